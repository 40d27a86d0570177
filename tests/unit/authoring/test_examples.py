"""Which calls of docs and help texts are tried for a first suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import sure
from tidegate.authoring.examples import (
    called_by_name,
    calls_in_code,
    code_of_tests,
    documented,
    documented_options,
    followed,
    in_help,
    in_history,
    in_scripts,
    named_once,
    usage_options,
    with_choices,
    without_addresses,
)
from tidegate.authoring.main_use import main_use, phrases
from tidegate.authoring.option_calls import Try, with_option
from tidegate.authoring.subcommand_calls import state
from tidegate.authoring.tool_inputs import given_in_tests, inputs
from tidegate.decide.surface.help_text import subcommands
from tidegate.decide.surface.parts import of_help
from tidegate.model.surface import Part

README = """\
# Tally
## Usage
```sh
tally [OPTIONS] COMMAND
tally add milk
curl https://example.org | tally add
tally count data/some.csv
```
## Again
```sh
tally add milk
tally list
```
"""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_examples_of_a_document_stay_together_in_order_without_those_that_cannot_run(tmp_path: Path) -> None:
    (found,) = documented(write(tmp_path, {"README.md": README}), ".", "tally")
    assert found.candidate.name == "readme"
    assert found.candidate.commands == (
        "tally add milk",
        "tally add < sample.html",
        "tally count data/some.csv",
        "tally list",
    )


def test_a_manual_that_is_named_like_the_tool_has_examples_too(tmp_path: Path) -> None:
    write(tmp_path, {"tally.md": "# tally(1)\n\n    $ tally add milk\n    added\n", "other.md": "    $ tally list\n"})
    (found,) = documented(tmp_path, ".", "tally")
    assert (found.candidate.name, found.candidate.commands) == ("tally", ("tally add milk",))


@pytest.mark.parametrize(
    "line",
    [
        "./bin/tally add",
        "$ ../test/bin/tally add",
        "npx tally add",
        "python tally.py add",
        "cat a | ./tally add",
        "A=1 B='x y' ./tally add",
        "${TALLY:-tally} add",
    ],
)
def test_a_call_by_a_path_or_through_a_launcher_is_one_of_the_tool(line: str) -> None:
    assert called_by_name(line, "tally").endswith("tally add")
    assert "/tally" not in called_by_name(line, "tally")


def test_variables_before_a_call_stay() -> None:
    assert called_by_name("    NAME='Ada L' ./tally demo/a", "tally") == "    NAME='Ada L' tally demo/a"


def test_lines_that_only_bash_understands_are_given_to_it_without_those_that_load_the_checkout(tmp_path: Path) -> None:
    shown = '```sh\ncd "$(dirname "$0")"\n. ../tally\nexport A=( 1 2 )\ntally add\n```\n'
    (found,) = documented(write(tmp_path, {"README.md": shown}), ".", "tally")
    assert found.candidate.commands == ("bash -c 'export A=( 1 2 ) && tally add'",)


def test_scripts_of_tests_and_demos_have_examples_with_what_they_store(tmp_path: Path) -> None:
    scripts = {
        "tests/one.sh": 'id=`${TALLY:-tally} add a`\n../tally show "$id"\n',
        "demo/two": "#!/usr/bin/env bash\necho a | ../tally list\n",
        "tests/case/cmd": "TALLY=../../bin/tally.js\ncat input | $TALLY --all\n",
        "tests/case/input": "a\n",
        "tests/three.bats": '@test "adds" {\n  run tally add b\n  result="$(./tally sum 1 2)"\n}\n',
        "src/three.sh": "tally elsewhere\n",
    }
    plan = sure(in_scripts(write(tmp_path, scripts), ".", "tally", (), ()))
    assert {*plan.candidate.commands} == {
        "echo a | tally list",
        'id=`tally add a` && tally show "$id"',
        "cat tests/case/input | tally --all",
        "tally add b",
        "tally sum 1 2",
        'cd $(mktemp -d)\nid=`tally add a`\ntally show "$id"',
    }
    assert in_scripts(tmp_path, "src", "tally", (), ()) is None


def test_calls_in_the_code_of_tests_are_examples() -> None:
    code = """
        runner.invoke(cli, ["add", "two words", '--due', "1"])
        subprocess.run(["bin/tally", "list"])
        exec("tally list --all")
        ["other", "words"], ["add", f"{name}"], print("tally is a tool that adds")
    """
    found = [*calls_in_code(code, "tally", {"add", "list"})]
    assert found == ["tally add 'two words' --due 1", "tally list", "tally list --all"]


def test_joined_texts_with_comments_take_no_time() -> None:
    lines = "        'a'\n" * 60
    assert [*calls_in_code(f"check(\n{lines}        # ends\n        'b')", "tally", {"add"})] == []


def test_calls_in_data_of_tests_may_begin_with_an_address_and_those_with_new_words_come_first(tmp_path: Path) -> None:
    data = """[
        {"arguments": ["https://a.b/c", "--all"]}, {"arguments": ["https://a.b/d", "--all"]},
        {"arguments": ["https://a.b/d", "--all", "--short"]}, {"arguments": ["git", "--all"]}
    ]"""
    write(tmp_path, {"tests.json": data, "other.json": '["list"]'})
    plan = sure(in_scripts(tmp_path, ".", "tally", {"--all", "--short", "list"}, code_of_tests(tmp_path)))
    assert plan.candidate.commands == (
        *("tally https://a.b/c --all", "tally https://a.b/d --all --short", "tally https://a.b/d --all"),
    )


def test_a_word_of_another_program_is_no_call() -> None:
    assert called_by_name("cp bin/tally /usr/bin", "tally") == "cp bin/tally /usr/bin"


def test_each_document_with_examples_is_followed_on_its_own_with_the_files_that_it_names(tmp_path: Path) -> None:
    files = {
        "Readme.md": README,
        "docs/readme.zh-CN.md": README,
        "docs/usage.md": "```sh\ntally list\n```\n",
        "docs/index.md": "No example.\n",
    }
    write(tmp_path, files | {"other/README.md": "```sh\ntally [OPTIONS]\n```\n"})
    readme, usage = followed(tmp_path, ".", "tally", {"data/some.csv": "a\n", "2/sample.txt": "b\n"})
    assert (readme.name, readme.commands, readme.guidance) == ("docs_examples", (), ("Readme.md",))
    assert (usage.name, usage.guidance, usage.files) == ("docs_examples_usage", ("docs/usage.md",), {})
    assert [*readme.files] == ["data/some.csv"]
    assert not [*followed(tmp_path, "other", "tally", {})]


def test_equal_names_are_numbered(tmp_path: Path) -> None:
    files = {"README.md": "```sh\ntally a\n```\n", "docs/usage/readme.md": "```sh\ntally b\n```\n"}
    found = named_once([*documented(write(tmp_path, files), ".", "tally")] * 2)
    assert [one.candidate.name for one in found] == ["readme", "readme_2"]


def test_subcommands_of_several_kinds_of_help() -> None:
    assert list(subcommands("Commands:\n  add  Adds\n  rm, remove  Removes\n\nOptions:\n  never  x\n")) == ["add", "rm"]
    assert list(subcommands("usage: tally [-h] {add,list} ...\n")) == ["add", "list"]
    assert list(subcommands("Available Commands:\n  run [title] Runs\n")) == ["run"]
    assert list(subcommands("Available commands:\n\n* add\n* del (rm)\n\nRun it\n")) == ["add", "del"]
    assert list(subcommands("tally reads the input\ntally writes to a file\n", "tally")) == []
    assert list(subcommands("All commands are described elsewhere, in a manual.\n  no\n")) == []


ASK = "'(B) Ask Bea +home @phone due:2037-05-06'"


def test_what_is_added_is_listed_then_changed_and_removed() -> None:
    parts = of_help(
        {"": "usage: tally\n\nCommands:\n  remove  R\n  list  L\n  done  D\n  add  A\n  serve  S\n"}, "tally"
    )
    first = [one.ways[0] for one in state("tally", parts).tries]
    assert first == [
        *("tally add 'Buy milk'", "tally add 'Call Ada'", "tally list"),
        *("tally list milk", "tally list MILK", "tally list irs", "tally list Ada"),
        *(f"tally add {ASK}", "tally list", "tally done 1", "tally list"),
        *("tally add 'Buy Brötchen & 影'", "tally list", "tally remove 1", "tally list"),
        *("tally add 'Send 3 letters'", f"tally add {ASK}", "tally add 'Buy Brötchen & 影'", "tally list"),
    ]


def test_what_is_added_by_a_name_is_found_by_its_words_and_changed_by_its_name() -> None:
    parts = of_help({"": "usage: tally\n\nCommands:\n  add  A\n  grep  G\n  mv  M\n  rm  R\n  ls  L\n"}, "tally")
    tries = state("tally", parts, ["tally add <name> <text>\ntally mv <source> <target>\ntally rm <name>\n"]).tries
    ways = [one.ways for one in tries]
    assert ("tally grep MILK",) in ways
    lines = [own[0] for own in ways]
    changed = next(place for place, own in enumerate(ways) if "tally mv third other" in own[:2])
    assert lines[changed - 2 : changed] == ["tally add third 'Send 3 letters'", "tally ls"]
    assert tries[changed + 1] == tries[changed - 1] == Try(ways=tries[changed - 1].ways, wants="changes")
    assert "tally rm fifth" in lines
    untold = [one.ways[0] for one in state("tally", parts).tries]
    assert "tally mv third other" in untold, "no row tells what it takes"


def test_what_adds_is_called_with_all_its_options_at_once_too() -> None:
    own = ["--title", "--kind", "--file", "--pager"]
    parts = [Part(kind="subcommand", name="add"), Part(kind="option", name="--all", command="add")]
    parts += [Part(kind="option", name=name, command="add", takes_value=True) for name in own]
    parts[3] = parts[3].model_copy(update={"choices": ("b", "c")})
    lines = [one.ways[0] for one in state("tally", parts).tries]
    assert "tally add --title 'Buy milk' --kind b --file sample.txt" in lines


def test_subcommands_get_the_fittest_inputs_alone_and_together() -> None:
    parts = of_help({"": "Command: comp  Composition\n"}, "tally")
    composition, *alone = state("tally", parts, files=("a.fq", "b.fa", "c.txt")).tries
    assert composition.ways == ("tally comp", "tally comp a.fq", "tally comp b.fa")
    assert (composition.more[0], composition.more[-1]) == ("tally comp sample.txt", "tally comp a.fq b.fa")
    assert [(one.ways, one.wants) for one in alone] == [
        (("tally comp a.fq",), "prints"),
        (("tally comp b.fa",), "prints"),
        (("tally comp samples/",), "prints"),
    ]


def test_an_option_of_all_subcommands_is_given_before_one_or_after_it() -> None:
    parts = of_help({"": "usage: t\n\nOptions:\n  --long  Longer\n\nCommands:\n  check  C\n"}, "t")
    (long,) = (part for part in parts if part.kind == "option")
    tries = [next(with_option(line, "t", long, parts)) for line in ("t check x.md", "t x.md")]
    assert [(one.ways, one.more) for one in tries] == [
        (("t --long check x.md",), ("t check --long x.md",)),
        (("t --long x.md",), ()),
    ]


def test_subcommands_by_usual_names_are_for_entries_only_where_one_adds_some() -> None:
    help_text = "Commands:\n  rename  Rename\n  show    Show\n"
    (renaming, *_) = state("tally", of_help({"": help_text}, "tally"), files=("a.fq",)).tries[1:]
    assert renaming.ways[:2] == ("tally rename", "tally rename a.fq")
    adding = state("tally", of_help({"": f"{help_text}  add     Add\n"}, "tally"), files=("a.fq",)).tries
    assert not any("a.fq" in line for one in adding for line in one.ways)


def test_arguments_that_are_named_like_files_are_samples_of_their_kinds() -> None:
    help_text = "Commands:\n  merge  Merge\n"
    usage = ("usage: tally merge <in1.csv> <in2.csv>",)
    (merging, *_) = state("tally", of_help({"": help_text}, "tally"), usage).tries
    assert merging.ways[0] == "tally merge sample.csv other.csv"


def test_examples_in_asciidoc_and_in_blocks_of_commands_by_any_name_are_tried(tmp_path: Path) -> None:
    readme = (
        "== Use\n\n[source,sh]\n----\n$ tally add 1\n----\n\n----\n$ tally list\n----\n\n```test\ntally rm 1\n```\n"
    )
    (found,) = documented(write(tmp_path, {"README.adoc": readme}), ".", "tally")
    assert [one.ways for one in found.tries] == [("tally add 1",), ("tally list",), ("tally rm 1",)]


def test_a_file_of_the_home_may_be_one_of_the_workspace(tmp_path: Path) -> None:
    (found,) = documented(write(tmp_path, {"README.md": "```sh\ntally add ~/notes/a ~x\n```\n"}), ".", "tally")
    assert [one.ways for one in found.tries] == [("tally add ~/notes/a ~x", "tally add notes/a ~x")]


def test_a_tool_without_subcommands_gets_files_of_the_kinds_that_its_docs_name(tmp_path: Path) -> None:
    texts = ["Counts rows of *.csv, x.csv and y.yaml."]
    root = write(tmp_path, {"tests/data/ports.csv": "port,flag\n80,on\n", "src/own.csv": "no input\n"})
    ways = [one.ways[0] for one in main_use("tally", inputs(root, texts)).tries]
    assert [way for way in ways if way.startswith("tally sample")][:3] == [
        *("tally sample.csv", "tally sample.csv other.csv", "tally sample.csv more.csv")
    ]
    assert {"tally tests/data/ports.csv", "tally < sample.yaml", "tally sample.yaml other.yaml"} < {*ways}
    assert "src/own.csv" not in " ".join(ways)


def test_files_of_kinds_that_only_the_repository_has_come_in_turn_with_samples(tmp_path: Path) -> None:
    files = {
        "tests/a.feature": "Feature: a\n",
        "tests/b.feature": "Feature: b\n",
        "tests/c.rc": "x\n",
        "tests/d.js": "1\n",
    }
    found = inputs(write(tmp_path, files), ["Checks *.feature and *.js."])
    assert found[:5] == ("tests/a.feature", "tests/c.rc", "sample.js", "tests/b.feature", "more.js")
    assert found[-1] == "tests/d.js"


def test_a_template_gets_data_by_the_option_for_it() -> None:
    parts = of_help({"": "options:\n  -d DATA, --data DATA  The data\n"}, "tally")
    ways = [one.ways[0] for one in main_use("tally", ["a.mustache"], [], parts).tries]
    assert "tally a.mustache --data sample.json" in ways


def test_a_tool_about_git_repositories_gets_one() -> None:
    first, *_ = main_use("tally", (), ["Counts the authors of a git repository."]).tries
    assert first.ways == ("sh history.sh work && cd work && tally",)
    assert main_use("tally", (), ["Clone it from a git server."]).tries[0].ways != first.ways


def test_examples_of_a_tool_about_git_are_tried_in_a_repository_too(tmp_path: Path) -> None:
    assert called_by_name("$ git tally main\n$ git tally-up\n", "git-tally") == "$ git-tally main\n$ git tally-up\n"
    (plan,) = documented(write(tmp_path, {"README.md": "```sh\ntally 87c248f\n```\n"}), ".", "tally")
    assert in_history(plan).tries[0].ways == ("tally 87c248f", "sh history.sh work && cd work && tally feature")


def test_words_that_a_usage_lists_are_arguments() -> None:
    ways = [one.ways[0] for one in main_use("tally", (), ["usage: tally [-h] [--by {day,week}] [{mit,bsd}]"]).tries]
    assert {"tally mit", "tally bsd"} < {*ways}
    assert "tally day" not in ways


@pytest.mark.parametrize(
    ("usage", "call"),
    [
        ("Usage: tally [OPTION]... PATTERN [FILES OR DIRECTORIES]", "tally Ada a.txt"),
        ("usage: tally [-h] [-f FILE] expression\n\nA tool.", "tally name < a.txt"),
        ("Usage: tally [Options] [Program] [file ...]", "tally '{print $1}' a.txt"),
        ("usage: tally [-h] FILE", "tally a.txt"),
    ],
)
def test_a_usage_may_name_what_comes_before_the_file(usage: str, call: str) -> None:
    assert main_use("tally", ["a.txt"], [usage]).tries[0].ways == (call,)


def test_an_option_that_takes_a_file_gets_inputs_of_its_kind() -> None:
    page = "usage: tally\n\noptions:\n  --env PATH  What to read [default: .env]\n  --all  All\n"
    tries = main_use("tally", ["sample.md", "sample.env"], [], of_help({"": page}, "tally")).tries
    assert [one.ways[0] for one in tries if "--" in one.ways[0]] == ["tally --env sample.env"]


def test_a_usage_may_bundle_options() -> None:
    text = "Usage: tally [-abV] [ -d folder ] file\n"
    found = usage_options(of_help({"": text}, "tally"), text)
    assert {(part.name, part.takes_value) for part in found if part.kind == "option"} == {
        *(("-a", False), ("-b", False), ("-V", False), ("-d", True))
    }
    assert [part.name for part in usage_options((), "Usage: tally [-count]\n")] == []


def test_values_that_a_description_lists_are_those_of_an_option() -> None:
    text = (
        "usage: tally\n\nOptions:\n  -t, --to FORMAT  Format (html, xml,\n                   or man)\n  --at DAY  Day\n"
    )
    text += "  -f, --format [F]  Output format. Possible values: json, plain. Default: plain\n"
    text += "  --keep WHAT  Rows to keep: all (default), first or <number>\n  --more N  More: one or two of them\n"
    text += "  --by WHAT  What to sort by [default: day]\n                 day, week,\n                 year\n"
    text += "  --sort <boolean>  In order\n"
    found = {part.name: with_choices(part, [text]).choices for part in of_help({"": text}, "tally")}
    of_each = {"--to": ("html", "xml", "man"), "--at": (), "--format": ("json", "plain")}
    assert found == {
        **of_each,
        "--keep": ("all", "first"),
        "--more": (),
        "--by": ("day", "week", "year"),
        "--sort": ("true", "false"),
    }


def test_an_option_whose_value_may_be_left_out_is_a_switch_if_its_values_are_not_known() -> None:
    text = (
        "usage: tally\n\n  -c, --comments [filter]  Keep them\n  --to [F]  Possible values: a, b.\n  --in [FILE] [N]\n"
    )
    found = {part.name: with_choices(part, [text]).takes_value for part in of_help({"": text}, "tally")}
    assert found == {"--comments": False, "--to": True, "--in": True}


def test_an_option_that_sets_something_takes_a_value_also_if_the_help_shows_none() -> None:
    text = "options:\n  --mark, -m  Skip marked rows. Set a value to change the mark.\n  --all  Set all to upper case\n"
    text += "  --skipLines,-l  Set the number of lines\n"
    parts = [with_choices(part, [text]) for part in of_help({"": text}, "tally")]
    assert [part.name for part in parts if part.takes_value] == ["--mark", "--skipLines"]
    assert "--skipLines 2" in next(with_option("tally a.csv", "tally", parts[-1], parts)).ways[0]


def test_an_option_with_several_values_comes_last_and_signs_are_quoted() -> None:
    text = "usage: tally [--drop [TAG ...]] [--mark {*,_}] [file]\n\n  --drop [TAG ...]  Tags\n  --mark {*,_}  A sign\n"
    parts = {part.name: with_choices(part, [text]) for part in of_help({"": text}, "tally")}
    line = "tally a.csv > b"
    (drop, *_), (mark, *_) = ([*with_option(line, "tally", parts[name], ())] for name in ("--drop", "--mark"))
    assert drop.ways[-1] == "tally a.csv --drop sample.txt > b"
    assert mark.ways == ("tally --mark '*' a.csv > b",)


def test_values_that_have_a_list_under_the_options_name_are_those_of_it() -> None:
    text = "  Safe changes:\n\n    + arrow ... to arrows\n    + for-of .. to loops\n\n"
    text += "  Other changes:\n    let  to let\n\n"
    text += "Options:\n  --change <a,b>  What to do\n  --out <file>  Where\n"
    found = {part.name: with_choices(part, [text]).choices for part in of_help({"": text}, "tally")}
    assert found == {"--change": ("arrow", "for-of", "let"), "--out": ()}


def test_a_sentence_of_the_help_is_no_example() -> None:
    text = "Examples:\n  tally may miss or skip some\n  tally is invoked.\n  tally add milk\n"
    assert [one.ways for one in in_help("tally", [text]).tries] == [("tally add milk",)]


def test_arguments_of_a_subcommand_are_those_of_the_row_that_shows_its_call() -> None:
    parts = of_help({"": "usage: tally\n\nCommands:\n  add  A\n  move  M\n"}, "tally")
    tries = state("tally", parts, ['    add "TEXT TO ADD"\n    move NR DEST [SRC]\n']).tries
    assert [one.ways[0] for one in tries if "move" in one.ways[0] or "add" in one.ways[0]][:2] == [
        *("tally add 'Buy milk'", "tally add 'Call Ada'")
    ]
    assert "tally move 1 sample.txt" in [one.ways[0] for one in tries]


def test_a_message_that_a_row_shows_is_given_though_it_is_optional() -> None:
    parts = of_help({"": "usage: tally\n\nCommands:\n  append  A\n"}, "tally")
    (first, *_) = state("tally", parts, ["  tally append|a <name> [message]  # Appends\n"]).tries
    assert first.ways[0] == "tally append first 'Buy milk'"


def test_a_format_that_the_docs_begin_with_comes_before_files_of_unusual_kinds(tmp_path: Path) -> None:
    root = write(tmp_path, {"tests/own.map": "text\n"})
    assert inputs(root, ["Minifies CSS."])[:2] == ("sample.css", "tests/own.map")
    assert inputs(root, ["Minifies a.css"])[:2] == ("tests/own.map", "sample.css")


def test_code_of_the_repository_is_an_input_of_a_tool_for_code(tmp_path: Path) -> None:
    root = write(tmp_path, {"tally/cli.py": "x = 1\n", "tests/own.odd": "text\n", "tests/binary.odd": "\0"})
    first, *_, last = inputs(root, ["Reads *.py."])
    assert (first, last) == ("tests/own.odd", "tally/cli.py")


def test_options_that_only_documents_mark_are_tried_too() -> None:
    known = Part(kind="option", name="--out", aliases=("-o",))
    parts = documented_options([known], ["Use `-s` or `--stdout`, `--title NAME` and `-o x`. Not --bare."])
    assert [(part.name, part.takes_value) for part in parts[1:]] == [
        ("-s", False),
        ("--stdout", False),
        ("--title", True),
    ]


def test_an_example_with_an_address_is_tried_but_not_with_a_network(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("```console\n$ tally https://example.com/a\n$ tally 3\n```\n", encoding="utf-8")
    (plan,) = documented(tmp_path, ".", "tally")
    assert [one.ways for one in plan.tries] == [("tally https://example.com/a",), ("tally 3",)]
    assert [one.ways for one in without_addresses(plan).tries] == [("tally 3",)]


def test_texts_of_tests_become_inputs_of_the_kind_that_documents_name(tmp_path: Path) -> None:
    root = write(tmp_path, {"tests/test_a.py": 'a("x = 1\\ny = 2")\nb("z = 3\\nlong = 4")\n'})
    given = given_in_tests(code_of_tests(root), ["Reads *.py."])
    assert given == {
        "given1.py": "z = 3\nlong = 4\n",
        "given2.py": "x = 1\ny = 2\n",
    }
    assert "given1.py" in inputs(root, ["Reads *.py."], given)[:3]


def test_only_required_arguments_are_given_and_options_before_them_are_left_out() -> None:
    parts = of_help({"": "usage: tally\n\nCommands:\n  postpone  P\n"}, "tally")
    tries = state("tally", parts, ["Synopsis: postpone [-s] <NUMBER> [<NUMBER2> ...] <TAG>\n"]).tries
    assert [one.ways[0] for one in tries] == ["tally postpone 1 first", "tally postpone samples/"]


def test_quoted_words_of_an_options_description_are_its_values() -> None:
    text = "usage: t [-f F] [-s ORDER]\n\n-f : The format: 'text' (default), 'dot' or\n     'json'.\n-s : By 'due'.\n"
    found = {part.name: with_choices(part, [text]).choices for part in of_help({"": text}, "t")}
    assert found == {"-f": ("text", "dot", "json"), "-s": ()}


def test_stdin_is_tried_with_a_dash_if_it_does_nothing_without() -> None:
    assert ("tally < a.py", "tally - < a.py") in [one.ways for one in main_use("tally", ["a.py"]).tries]


def test_values_that_a_description_gives_a_meaning_are_choices() -> None:
    text = "options:\n  -u N   Case. Default 2. Values: 0=>same, 1=>lower,\n         2=>upper.\n"
    text += "  -F STR format: text or html. Default: text.\n"
    found = {part.name: with_choices(part, [text]).choices for part in of_help({"": text}, "t")}
    assert found == {"-u": ("0", "1", "2"), "-F": ("text", "html")}


def test_phrases_of_tests_are_arguments() -> None:
    code = ["a('1,000 words', 'one')\n"]
    assert [one.ways for one in phrases("tally", code, []).tries] == [("tally '1,000 words'",)]


def test_what_docs_pipe_into_the_tool_from_another_program_is_a_sample(tmp_path: Path) -> None:
    docs = """```console
$ curl -s https://example.org/ | tally head -t p
$ curl 'https://example.org/a.csv' | tally
$ kubectl get pods -o json | tally --all
$ curl https://example.org/ | jq . | tally
$ dmesg | other
```
"""
    (tmp_path / "README.md").write_text(docs)
    lines = [line for plan in documented(tmp_path, "", "tally") for one in plan.tries for line in one.ways]
    assert lines == ["tally head -t p < sample.html", "tally < sample.csv", "tally --all < sample.json"]
