"""The task list on disk: `.taskmgr/tasks.json` in the current folder."""

import json
from pathlib import Path

FILE = Path(".taskmgr/tasks.json")


class TaskError(Exception):
    """Something is wrong with the list, in words for the person who asked."""


def load():
    """All tasks, oldest first; none if the folder has no list yet."""
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))["tasks"]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"{FILE} is not a task list: {error}") from error


def save(tasks):
    """Write all tasks; a crash half-way leaves the old list in place."""
    FILE.parent.mkdir(exist_ok=True)
    new = FILE.with_suffix(".new")
    new.write_text(json.dumps({"tasks": tasks}, indent=2) + "\n", encoding="utf-8")
    new.replace(FILE)


def add(tasks, title, priority):
    """A new task at the end of the list."""
    task = {
        "id": max((task["id"] for task in tasks), default=0) + 1,
        "title": title,
        "priority": priority,
        "done": False,
        "waits_for": [],
    }
    tasks.append(task)
    return task


def find(tasks, number):
    """The task of that number."""
    for task in tasks:
        if task["id"] == number:
            return task
    raise TaskError(f"there is no task {number}")
