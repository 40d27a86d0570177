"""Help texts of common libraries are read."""

from __future__ import annotations

import time

import pytest

from tidegate.decide.surface.help_text import HelpOption, read_help, repeats, subcommands

ARGPARSE = """\
usage: taskmgr [-h] [--version] COMMAND ...

Tasks in a folder.

positional arguments:
  COMMAND
    add       Add a task.
    list      Show all tasks.

options:
  -h, --help  show this help message and exit
"""
ARGPARSE_SUB = """\
usage: taskmgr add [-h] [--priority {low,normal,high}] TITLE

positional arguments:
  TITLE

options:
  -h, --help            show this help message and exit
  --priority {low,normal,high}
                        how soon it is needed
"""
CLICK = """\
Usage: repo [OPTIONS] COMMAND [ARGS]...

Options:
  --format [json|text]  Shape of the output.
  --shout / --no-shout  Loud.
  -n, --count INTEGER   How often.
  --help                Show this message and exit.

Commands:
  clone   Clones a repository.
  delete  Deletes it,
          for good.
"""
CLAP = """\
A finder

Usage: fnd [OPTIONS] <PATTERN> [COMMAND]

Commands:
  index  Build the index
  help   Print this message or the help of the given subcommand(s)

Arguments:
  <PATTERN>  What to find

Options:
  -o, --output <FILE>  Where to write
      --color <WHEN>   When to colour [possible values: auto, always, never]
  -q, --quiet          Less
  -h, --help           Print help
"""
COBRA = """\
Work with issues.

Usage:
  ish [command]

Available Commands:
  create      Create an issue
  list        List issues

Flags:
      --due string   last day
  -h, --help         help for ish
  -v, --verbose      more

Use "ish [command] --help" for more information about a command.
"""
COMMANDER = """\
Usage: pack [options] [command]

Options:
  -V, --version          output the version number
  -c, --cheese <type>    kind of cheese (choices: "brie", "gouda")
  -h, --help             display help for command

Commands:
  add [options] <title>  add one
  help [command]         display help for command
"""
YARGS = """\
tally <command>

Commands:
  tally add <title>  add one
  tally list         list all

Options:
      --version   Show version number                                  [boolean]
  -p, --priority  how soon              [string] [choices: "low", "high"]
      --help      Show help                                            [boolean]
"""
SHELL = """\
jot: --help is no action

  Usage: jot [-qvV] [-d folder] [-verbose] action [number]

  Actions:
    add|a "WHAT TO BUY
          AND MORE"
    list [WORD...]
    rm|del NUMBER

  Settings:
    colour   Which colours are used

  Options:
    -q   Print less
"""


@pytest.mark.parametrize(
    ("text", "called", "subcommands", "options"),
    [
        (ARGPARSE, "taskmgr", ("add", "list"), {"--version": (False, ())}),
        (ARGPARSE_SUB, "taskmgr add", (), {"--priority": (True, ("low", "normal", "high"))}),
        (
            CLICK,
            "repo",
            ("clone", "delete"),
            {
                "--format": (True, ("json", "text")),
                "--shout": (False, ()),
                "--no-shout": (False, ()),
                "--count": (True, ()),
            },
        ),
        (
            CLAP,
            "fnd",
            ("index", "help"),
            {"--output": (True, ()), "--color": (True, ("auto", "always", "never")), "--quiet": (False, ())},
        ),
        (COBRA, "ish", ("create", "list"), {"--due": (True, ()), "--verbose": (False, ())}),
        (COMMANDER, "pack", ("add", "help"), {"--cheese": (True, ("brie", "gouda")), "--version": (False, ())}),
        (YARGS, "tally", ("add", "list"), {"--version": (False, ()), "--priority": (True, ("low", "high"))}),
        (
            SHELL,
            "jot",
            ("add", "list", "rm"),
            {"-q": (False, ()), "-qvV": (False, ()), "-d": (True, ()), "-verbose": (False, ())},
        ),
    ],
    ids=["argparse", "argparse of a subcommand", "click", "clap", "cobra", "commander", "yargs", "own"],
)
def test_the_help_of_common_libraries(
    text: str, called: str, subcommands: tuple[str, ...], options: dict[str, tuple[bool, tuple[str, ...]]]
) -> None:
    found = read_help(text, called)
    assert found.subcommands == subcommands
    assert {
        one.names[0]: (one.takes_value, one.choices) for one in found.options if "--help" not in one.names
    } == options


def test_a_subcommand_whose_help_lists_itself_repeats_the_help_of_the_program() -> None:
    assert repeats(SHELL, "add")
    assert not repeats(SHELL, "shorthelp")
    assert not repeats(ARGPARSE, "")


def test_arguments_are_those_of_the_usage_line() -> None:
    assert read_help(ARGPARSE_SUB, "taskmgr add").arguments == ("TITLE",)
    assert read_help(CLAP, "fnd").arguments == ("PATTERN",)


@pytest.mark.parametrize(
    ("usage", "required"),
    [
        ("tally [-h] [--out FILE] SOURCE [MORE [MORE ...]]", ("SOURCE",)),
        ("tally --due DATE [OPTIONS] SOURCE DEST", ("SOURCE", "DEST")),
        ("tally [<file>]", ()),
        ("tally (TEXT | FILE) DEST", ("TEXT", "DEST")),
    ],
)
def test_arguments_outside_of_brackets_are_required(usage: str, required: tuple[str, ...]) -> None:
    assert read_help(f"usage: {usage}", "tally").required == required


def test_a_removed_subcommand_is_none() -> None:
    page = "Usage: t\n\nCommands:\n  add   Adds\n\nRemoved commands:\n  list  Use show\n"
    assert [*read_help(page, "t").subcommands] == ["add"]


def test_a_removed_option_is_none() -> None:
    gone = "Removed options:\n  --due D  Use --until\n\nOther:\n  --by WHO was removed in 2.0\n  --at  no longer used\n"
    gone += "  --on  Day (removed)\n\nEarlier releases had:\n  --of  Day\n\nOther:\n"
    page = f"Usage: t\n\nOptions:\n  --tag T  A tag\n  --gone   Files that were removed\n\n{gone}  --last   Kept\n"
    assert [option.names for option in read_help(page, "t").options] == [("--tag",), ("--gone",), ("--last",)]


def test_an_option_that_a_sentence_mentions_is_none() -> None:
    text = "Options:\n  --fix  Apply fixes. See also --no-fix.\n"
    assert read_help(text, "t").options == (HelpOption(("--fix",), takes_value=False, choices=()),)


@pytest.mark.parametrize(
    "entry",
    [
        "  --depth N  how deep (default: 3)",
        "  --depth INTEGER  How deep.  [default: 3]",
        "  --depth int  how deep (default 3)",
        '  --depth <N>  how deep (default: "3")',
        "  --depth N  how deep\n             [default: 3; required]",
        "  --depth N  how deep; the default is 3.",
        "  --depth N  how deep. Defaults to '3', or",
    ],
)
def test_the_default_of_an_option_is_read(entry: str) -> None:
    (option,) = read_help(f"usage: t\n\noptions:\n{entry}\n", "t").options
    assert option.default == "3"


def test_both_forms_of_a_switch_are_options() -> None:
    (found,) = read_help("Options:\n  --[no-]colour  Colours.\n", "t").options
    assert found.names == ("--colour", "--no-colour")


def test_a_hostile_help_is_read_at_once_and_gives_no_markup() -> None:
    rows = ["  --x" + " " * 150_000 + "y", "  --a  [choices: <b>, low, x](http://e.invalid)]", "[" * 20_000]
    began = time.process_time()
    found = read_help("\n".join(rows), "t")
    assert time.process_time() - began < 1
    assert [(one.names, one.choices) for one in found.options] == [(("--x",), ()), (("--a",), ("low", "x"))]


def test_a_usage_with_a_row_for_each_command_lists_them() -> None:
    rows = [
        "[<search>]",
        "add <ip> <name> [<comment>]",
        "backups [create | (show | delete) <file>]",
        "list",
        "-h | --help",
    ]
    usage = "A program.\n\nUsage:\n" + "".join(f"  hosts {row}\n" for row in rows) + "\nOptions:\n  -h --help  Help.\n"
    assert read_help(usage, "hosts").subcommands == ("add", "backups", "list")
    assert read_help("Usage: copy source target\n       copy -t folder source\n", "copy").subcommands == ()


def test_a_row_of_a_usage_may_have_a_short_name_of_its_command() -> None:
    usage = "Usage:\n    notes new|n <name>   # Create\n    notes ls\n    notes f|find [pattern]\n"
    assert read_help(usage, "notes").subcommands == ("new", "ls", "find")


def test_a_list_of_commands_may_begin_on_the_row_of_its_heading() -> None:
    rows = "Command: seq   Shows\n         size  Counts\n          more of it\n\nNote: no   command\n"
    assert [*subcommands(rows)] == ["seq", "size"]


def test_an_option_takes_the_value_that_only_its_usage_shows() -> None:
    found = read_help("Synopsis: t [-n <NUMBER>] [-x]\n\n-n : How many\n-x : All\n", "t").options
    assert [(one.names, one.takes_value) for one in found] == [(("-n",), True), (("-x",), False)]


def test_options_and_their_other_names_in_a_usage_below_its_heading_are_read() -> None:
    text = (
        "css v3\n\nUsage:\n\n\tcss [TEXT]\n\tcss [-w | --wrap] [TEXT]\n\tcss [-o|--out F]\n\nExample:\n\n\tcss [-x]\n"
    )
    found = read_help(text, "css").options
    assert [(one.names, one.takes_value) for one in found] == [(("--wrap", "-w"), False), (("--out", "-o"), True)]


@pytest.mark.parametrize(
    "place",
    [
        "usage: x [--prio {low,mid}]\n\nOptions:\n  --prio {low,mid,high}  soon\n",
        "Options:\n  --prio {low,mid,high}  removed: soon\n  --prio {low,mid}       soon\n",
        "Examples:\n  --prio low|mid|high\n\nOptions:\n  --prio {low,mid}  soon\n",
    ],
)
def test_an_option_takes_the_values_that_all_places_list(place: str) -> None:
    assert read_help(place, "x").options == (HelpOption(("--prio",), True, ("low", "mid")),)


def test_values_of_a_long_row_are_read() -> None:
    values = tuple(f"value-{number}" for number in range(40))
    (option,) = read_help(f"  --prio <PRIO>  soon [possible values: {', '.join(values)}]\n", "x").options
    assert option.choices == values


@pytest.mark.parametrize(
    ("row", "takes"),
    [
        ("  -L level  Descend so many levels", True),
        ("  --filelimit #      No more files", True),
        ("  --all  Everything", False),
        ("  --quiet says nothing", False),
        ("  --quiet Says nothing", False),
    ],
)
def test_one_word_between_an_option_and_its_description_is_its_value(row: str, takes: bool) -> None:
    assert [option.takes_value for option in read_help(row, "x").options] == [takes]


def test_a_letter_before_the_name_of_a_subcommand_stands_for_it() -> None:
    page = "Usage: t\n\nCommands:\n  a, add   Adds\n  ls, list  Lists\n"
    assert read_help(page, "t").subcommands == ("add", "ls")
