"""The command line of taskmgr."""

import argparse
import json
import sys

import taskmgr
from taskmgr import store

PRIORITIES = ("low", "normal", "high")


def add(args):
    """Add a task."""
    tasks = store.load()
    task = store.add(tasks, args.title, args.priority)
    store.save(tasks)
    print(f"added task {task['id']}: {task['title']}")


def done(args):
    """Mark a task as done."""
    tasks = store.load()
    task = store.find(tasks, args.id)
    task["done"] = True
    store.save(tasks)
    print(f"done: {task['title']}")


def link(args):
    """Say that one task has to wait for another."""
    tasks = store.load()
    task, other = store.find(tasks, args.task), store.find(tasks, args.waits_for)
    if task is other:
        raise store.TaskError("a task cannot wait for itself")
    if other["id"] not in task["waits_for"]:
        task["waits_for"].append(other["id"])
    store.save(tasks)
    print(f"task {task['id']} waits for task {other['id']}")


def list_tasks(args):
    """Show all tasks."""
    if args.format == "json":
        export(args)
        return
    for task in store.load():
        mark = "x" if task["done"] else " "
        waits = "".join(f", waits for {number}" for number in task["waits_for"])
        print(f"[{mark}] {task['id']} {task['title']} ({task['priority']}{waits})")


def export(args):
    """Print the whole list for other programs."""
    print(json.dumps({"tasks": store.load()}, indent=2))


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        self.exit(2, f"taskmgr: {message}; try `{self.prog} --help`\n")


def parser():
    """All commands and their options."""
    top = Parser(prog="taskmgr", description=taskmgr.__doc__, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"taskmgr {taskmgr.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    def command(name, run):
        sub = commands.add_parser(name, help=run.__doc__, description=run.__doc__, allow_abbrev=False)
        sub.set_defaults(run=run)
        return sub

    sub = command("add", add)
    sub.add_argument("--priority", choices=PRIORITIES, default="normal", help="how soon it is needed")
    sub.add_argument("title", metavar="TITLE")

    sub = command("list", list_tasks)
    sub.add_argument("--format", choices=("text", "json"), default="text")

    sub = command("done", done)
    sub.add_argument("id", metavar="ID", type=int)

    sub = command("link", link)
    sub.add_argument("task", metavar="TASK", type=int)
    sub.add_argument("waits_for", metavar="WAITS_FOR", type=int)

    sub = command("export", export)
    sub.add_argument("--format", choices=("json",), default="json")
    return top


def main():
    """Run one command; 0 done, 1 the list does not allow it, 2 the command line is wrong."""
    args = parser().parse_args()
    try:
        args.run(args)
    except store.TaskError as error:
        print(f"taskmgr: {error}", file=sys.stderr)
        return 1
    return 0
