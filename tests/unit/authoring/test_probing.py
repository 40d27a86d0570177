"""Which calls the prober keeps: those with an input on which the tool, and each option, does something."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tidegate.authoring.examples import Candidate
from tidegate.authoring.found import Found, read_found
from tidegate.authoring.option_calls import Try
from tidegate.authoring.pace import MOST_SLOW, slowness
from tidegate.authoring.probe import Probe
from tidegate.authoring.probing import Prober
from tidegate.authoring.starter import template_files
from tidegate.authoring.subcommand_calls import state
from tidegate.authoring.tool import Tool
from tidegate.decide.surface.parts import of_help
from tidegate.model.agent import Session
from tidegate.model.event import CommandResult, Message
from tidegate.model.surface import Part

Does = Callable[[list[str], dict[str, str]], str | None]


UNKNOWN = "--no-such-option"  # is tried at last


class FakeSession:
    """Runs a function in place of the tool: it gets the words and the files, and returns what is printed, or None."""

    scenario, binary = "plan", "count"
    error = "cannot read {}"

    def __init__(self, tool: Does, repo: Path) -> None:
        self.tool, self.repo, self.workspace = tool, repo, repo
        self.files: dict[str, str] = {}
        self.events: list[Any] = []

    async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
        if command.startswith("rm -f "):
            self.files = {name: text for name, text in self.files.items() if name not in command.split()}
        line, _, names = command.partition(" && cat ")
        printed = self.tool(line.split()[1:], self.files) if len(line.split()) > 1 else None
        if printed is not None:
            printed += "a line of a file\n" * 3 * len(names.split())
        code = 0 if printed is not None else 2
        failed = self.error.format(command.split()[-1])
        return CommandResult(
            command=command, end="exited", exit_code=code, stdout=printed or "", stderr=failed if code else ""
        )

    def read_text(self, path: str) -> str | None:
        text = self.files.get(path)
        return text and text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def write_text(self, path: str, text: str) -> None:
        self.files[path] = text

    def emit(self, event: Any) -> None:
        self.events.append(event)


def probed(tool: Does, repo: Path, tries: tuple[Try, ...], help_text: str = "") -> Found:
    parts: tuple[Part, ...] = of_help({"": help_text}, "count")
    inputs = ("sample.txt", "sample.json", "sample.py")
    prober = Prober(plans={"plan": tries}, parts=parts, inputs=inputs)
    session = FakeSession(tool, repo)
    asyncio.run(prober.run(cast("Session", session)))
    return read_found([one.text for one in session.events if isinstance(one, Message)])


def of_python(words: list[str], files: dict[str, str]) -> str | None:
    """Counts functions of Python files, prints nothing for other files, and ignores `--quick`."""
    texts = [files[word] for word in words if word in files]
    if not texts:
        return None
    count = texts[0].count("def ")
    return "".join(f"{count}{' functions' * ('--long' in words)}\n" for _ in range(count))


HELP = "usage: count [options] FILE\n\nOptions:\n  --long   Longer\n  --quick  Quick\n"


def test_a_line_on_whose_input_the_tool_prints_nothing_gets_an_input_on_which_it_does(tmp_path: Path) -> None:
    found = probed(of_python, tmp_path, (Try(ways=("count sample.txt",)),))
    assert found.of("call") == ("count sample.py",)
    assert {*found.files} == {"sample.py", "crlf.py", "unended.py", "empty.py"}
    assert found.of("silent") == ("count empty.py",)  # which may be an error tomorrow


def test_what_works_in_no_usual_way_gets_others_after_the_rest_of_the_plan(tmp_path: Path) -> None:
    called: list[str] = []

    def tool(words: list[str], files: dict[str, str]) -> str | None:
        called.extend(words[:1])
        return f"{words[0]} works\n" if words[0] in ("b", "c") else None

    probed(tool, tmp_path, (Try(ways=("count a",), more=("count b",)), Try(ways=("count c",), more=("count d",))))
    assert [word for word in dict.fromkeys(called) if word in "abcd"] == ["a", "c", "b"]


def test_an_option_that_shows_something_only_after_the_subcommand_is_given_there(tmp_path: Path) -> None:
    calls: list[int] = []

    def tool(words: list[str], files: dict[str, str]) -> str | None:
        calls.append(1)
        if "count" in words:
            return f"{len(calls)} calls\n"
        return "long\n" if words[:2] == ["check", "--long"] else "short\n" if "check" in words else None

    help_text = "usage: count\n\nOptions:\n  --long  Longer\n\nCommands:\n  check  Checks\n  count  Counts\n"
    tries = (Try(ways=("count check",)), Try(ways=("count count",)))
    found = probed(tool, tmp_path, tries, help_text)
    assert "count check --long" in found.of("option")
    assert "count count --long" not in found.of("option"), "each call prints something else anyway"


def of_folder(words: list[str], files: dict[str, str]) -> str | None:
    """Lists the files."""
    return "".join(f"{name}\n" for name in sorted(files))


def test_a_call_that_lists_files_is_not_taken_for_one_that_reads_stdin(tmp_path: Path) -> None:
    found = probed(of_folder, tmp_path, (Try(ways=("count list",), wants="works"),))
    assert not any("<" in call.line for call in found.calls)


def test_an_option_is_kept_with_an_input_on_which_it_changes_the_output_else_it_is_silent(tmp_path: Path) -> None:
    found = probed(of_python, tmp_path, (Try(ways=("count sample.txt",)),), HELP)
    assert found.of("option") == ("count --long sample.py",)
    assert found.of("silent") == ("count empty.py", "count --quick sample.py")


def test_options_are_tried_on_inputs_on_which_the_tool_is_silent_without_them(tmp_path: Path) -> None:
    def compiling(words: list[str], files: dict[str, str]) -> str | None:
        if words == ["0"]:
            return "nothing"
        return None if words[-1] not in files else f"made of {words[-1]}" if "--make" in words else ""

    tries = tuple(Try(ways=(f"count {word}",), wants="prints") for word in ("sample.txt", "sample.py", "0"))
    assert probed(compiling, tmp_path, tries, "options:\n  --make  Make it\n").of("option")


def test_of_inputs_on_which_the_tool_is_silent_one_of_each_kind_gets_options(tmp_path: Path) -> None:
    def compiling(words: list[str], files: dict[str, str]) -> str | None:
        shown = "made" if "--make" in words and words[-1] == "sample.py" else ""
        return shown if words[-1] in files else None

    names = ("a.txt", "b.txt", "c.txt", "d.txt", "sample.py")
    tries = tuple(Try(ways=(f"count {name}",), wants="prints") for name in names)
    found = probed(compiling, tmp_path, tries, "options:\n  --make  Make it\n")
    assert found.of("option") == ("count --make sample.py",)


def test_an_option_that_showed_something_in_one_plan_is_tried_on_one_line_only_in_another(tmp_path: Path) -> None:
    line = (Try(ways=("count sample.py",)), Try(ways=("count sample.py x",)))
    prober = Prober(plans={"plan": line[:1], "other": line}, parts=of_help({"": HELP}, "count"))
    found = []
    for name in prober.plans:
        session = FakeSession(of_python, tmp_path)
        session.scenario = name
        asyncio.run(prober.run(cast("Session", session)))
        found += [read_found([one.text for one in session.events if isinstance(one, Message)])]
    assert [one.of("option") for one in found] == [("count --long sample.py",), ("count --long sample.py",)]
    assert {call.about for one in found for call in one.calls if call.kind == "option"} == {" --long"}


def test_plans_that_run_at_once_begin_with_other_options(tmp_path: Path) -> None:
    tried: dict[str, list[str]] = {"plan": [], "other": []}
    for name, words_of_plan in tried.items():

        def noting(words: list[str], files: dict[str, str], own: list[str] = words_of_plan) -> str:
            own += [word for word in words if word.startswith("--") and word not in own]
            return "same"

        session = FakeSession(noting, tmp_path)
        session.scenario = name
        line = (Try(ways=("count sample.py",)),)
        prober = Prober(plans={"plan": line, "other": line}, parts=of_help({"": HELP}, "count"))
        asyncio.run(prober.run(cast("Session", session)))
    assert tried == {"plan": ["--long", "--quick", UNKNOWN], "other": ["--quick", "--long", UNKNOWN]}


def test_a_line_gets_few_values_of_an_option_that_changes_nothing_on_the_first(tmp_path: Path) -> None:
    tried: list[str] = []

    def noting(words: list[str], files: dict[str, str]) -> str:
        tried.extend([words[-1]] * ("--as" in words))
        return "same"

    lines = tuple(Try(ways=(f"count {name}",)) for name in ("first", "second"))
    probed(noting, tmp_path, lines, "options:\n  --as WORD  How\n")
    assert 6 < tried.count("first") > tried.count("second") == 6


def test_an_output_that_only_repeats_the_input_or_its_name_is_none(tmp_path: Path) -> None:
    def repeating(words: list[str], files: dict[str, str]) -> str | None:
        return files.get(words[-1])

    assert probed(repeating, tmp_path, (Try(ways=("count sample.txt",), wants="prints"),)).of("call") == ()

    def naming(words: list[str], files: dict[str, str]) -> str | None:
        return f"read {words[-1]}" if words[-1] in files else None

    assert probed(naming, tmp_path, (Try(ways=("count sample.txt",)),)).of("call") == ("count sample.txt",)


def test_a_file_that_is_damaged_or_not_there_is_tried_in_place_of_one_that_works(tmp_path: Path) -> None:
    def strict(words: list[str], files: dict[str, str]) -> str | None:
        text = files.get(words[-1], "")
        return "ok" if text and not text.startswith("}") else None

    found = probed(strict, tmp_path, (Try(ways=("count sample.json",)),))
    assert found.of("call") == ("count sample.json",)
    assert found.of("refused") == (
        "count empty.json",
        "(echo '}]) ('; cat sample.json) > damaged-sample.json; count damaged-sample.json",
    )  # the same message for one that is not there shows nothing more


def test_half_of_a_file_is_tried_and_a_missing_one_beside_it(tmp_path: Path) -> None:
    class Halving(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            whole = 0 if "sample.txt" in self.files else 2
            code = 3 if "half-" in command else 4 if "no-such-sample.txt sample.txt" in command else whole
            told = "cannot read sample.txt" if code else ""
            shown = f"status {code}" if code != 2 else ""
            return CommandResult(
                command=command, end="exited", exit_code=code, stdout=shown, stderr=f"{code} {told}" * bool(code)
            )

    session = Halving(of_python, tmp_path)
    asyncio.run(Prober(plans={"plan": (Try(ways=("count sample.txt",)),)}).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    half = len(session.files["sample.txt"].encode()) // 2
    assert found.of("refused")[-2:] == (
        f"head -c {half} sample.txt > half-sample.txt; count half-sample.txt",
        "count no-such-sample.txt sample.txt",
    )


def test_an_option_gets_a_value_that_it_does_not_list(tmp_path: Path) -> None:
    def showing(words: list[str], files: dict[str, str]) -> str | None:
        value = words[words.index("--as") + 1] if "--as" in words else "1"
        return f"shown {value}" if value in ("1", "2", "3") else None

    found = probed(showing, tmp_path, (Try(ways=("count all",)),), "options:\n  --as {2,3}  How\n")
    assert found.of("option") == ("count --as 2 all", "count --as 3 all")
    assert found.of("refused") == ("count --as 99 all",)


def test_an_option_that_changes_no_result_is_tried_where_a_line_is_refused(tmp_path: Path) -> None:
    class Quiet(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            code = 0 if "count sample.txt" in command.replace("--quiet ", "") else 3
            told = f"error: {command[-20:]}" if code and "--quiet" not in command else ""
            return CommandResult(command=command, end="exited", exit_code=code, stdout="" if code else "2", stderr=told)

    session = Quiet(of_python, tmp_path)
    session.files["sample.txt"] = "a\n"
    tries = (Try(ways=("count sample.txt",)), Try(ways=("count other.txt",)))
    parts = of_help({"": "options:\n  --quiet  Say nothing\n"}, "count")
    asyncio.run(Prober(plans={"plan": tries}, parts=parts, inputs=("sample.txt",)).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert [line for line in found.of("refused") if "--quiet" in line], found


def test_an_option_of_a_line_gets_its_other_values(tmp_path: Path) -> None:
    def showing(words: list[str], files: dict[str, str]) -> str | None:
        return f"shown {words[1]}" if words[:1] == ["--as"] else None

    line = (Try(ways=("count --as json all",)),)
    found = probed(showing, tmp_path, line, "options:\n  --as {csv,json,xml}  How\n")
    assert found.of("option") == ("count --as csv all", "count --as xml all")


@pytest.mark.parametrize(("form", "kept"), [("sample.txt", "sample.py"), ("< sample.txt", "< sample.py")])
def test_of_calls_that_repeat_their_input_the_one_with_most_marks_is_kept(tmp_path: Path, form: str, kept: str) -> None:
    def repeating(words: list[str], files: dict[str, str]) -> str | None:
        return files.get(words[-1])

    tries = (Try(ways=(f"count {form}",), wants="prints"), Try(ways=(f"count {kept}",), wants="prints"))
    found = probed(repeating, tmp_path, tries)
    assert found.of("call") == ()
    assert f"count {kept}" in found.of("variation")
    assert f"count {form}" not in found.of("variation")


def test_files_that_do_not_make_a_line_work_are_left_out(tmp_path: Path) -> None:
    found = probed(lambda words, files: None, tmp_path, (Try(ways=("count data.txt",)),))
    assert (found.of("call"), found.files) == ((), {})


def test_two_files_are_given_where_one_works(tmp_path: Path) -> None:
    def joined(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        return f"{len(texts)} files" if len(texts) == len(words) else None

    found = probed(joined, tmp_path, (Try(ways=("count sample.txt",)),))
    assert found.of("call") == ("count sample.txt", "count sample.txt sample.json")


def test_what_only_reads_is_tried_again_after_what_adds(tmp_path: Path) -> None:
    added: list[str] = []

    def keeping(words: list[str], files: dict[str, str]) -> str | None:
        if words[0] == "add" and len(words) > 1:
            added.append(words[1])
            return f"added {len(added)}"
        return "\n".join(added)

    tries = tuple(Try(ways=(line,)) for line in ("count find", "count add a"))
    assert probed(keeping, tmp_path, tries).of("call") == ("count find", "count add a", "count find")


def test_what_failed_is_tried_again_after_what_adds(tmp_path: Path) -> None:
    added: list[str] = []

    def keeping(words: list[str], files: dict[str, str]) -> str | None:
        if words[0] == "add" and len(words) > 1:
            added.append(words[1])
        return f"{words[0]} {len(added)}" if added else None

    found = probed(keeping, tmp_path, tuple(Try(ways=(line,)) for line in ("count done", "count add a")))
    assert (found.of("call"), found.failed) == (("count add a", "count done"), ())


def test_a_folder_that_an_example_stands_for_gets_a_sample_of_each_kind(tmp_path: Path) -> None:
    def walking(words: list[str], files: dict[str, str]) -> str | None:
        return "\n".join(name for name in files if name.startswith("path/") and name.endswith(".py"))

    found = probed(walking, tmp_path, (Try(ways=("count path",)),))
    assert {*found.files} == {
        "path/sample.txt",
        "path/sample.json",
        "path/sample.py",
        "path/copy.txt",
        "path/empty.txt",
        "path/inner/the copy.txt",
        "path/inner/other.txt",
        "path/.hidden.txt",
        "path/Upper Case.txt",
        "path/odd #1 & 100%.txt",
        "path/large.txt",
    }


def test_subcommands_that_read_a_file_get_a_sample() -> None:
    parts = of_help({"": "usage: count\n\nCommands:\n  raw  Raw\n"}, "count")
    assert "count raw sample.txt" in state("count", parts).tries[0].ways


def test_a_switch_that_changes_nothing_is_not_tried_with_a_value(tmp_path: Path) -> None:
    def counting(words: list[str], files: dict[str, str]) -> str | None:
        return f"{len(words)} words" if "--quick" not in words else "1 words"

    found = probed(counting, tmp_path, (Try(ways=("count one",)),), HELP)
    assert found.of("silent") == ("count --quick one",)


def test_an_option_that_fails_as_a_switch_is_tried_with_a_value(tmp_path: Path) -> None:
    def limited(words: list[str], files: dict[str, str]) -> str | None:
        return "all\n" if words == ["all"] else "two\n" if words[:2] == ["--top", "2"] else None

    text = "usage: count [options]\n\nOptions:\n  --top  Only so many\n"
    found = probed(limited, tmp_path, (Try(ways=("count all",)),), text)
    assert found.of("option") == ("count --top 2 all",)


def test_arguments_with_which_a_call_fails_alike_three_times_get_no_fourth(tmp_path: Path) -> None:
    tried: list[str] = []

    def strict(words: list[str], files: dict[str, str]) -> str | None:
        tried.append(words[-1])
        return None

    probed(strict, tmp_path, (Try(ways=tuple(f"count add {word}" for word in ("one", "two", "three", "four"))),))
    assert "four" not in tried


@pytest.mark.parametrize("error", ["needs another argument", "Traceback (most recent call last):\n{}"])
def test_so_are_texts_in_quotes_with_which_it_fails_or_crashes_alike(tmp_path: Path, error: str) -> None:
    class Failing(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            told = error.format(command.replace("a", "ä"))  # of a crash, all may differ
            return CommandResult(command=command, end="exited", exit_code=2, stderr=told)

    session = Failing(of_python, tmp_path)
    tries = tuple(Try(ways=(f"count '{word} text'",), wants="prints") for word in ("a", "b", "c", "d", "e"))
    asyncio.run(Prober(plans={"plan": tries}).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert len(found.failed) == 3


def test_what_has_to_print_news_does_not_end_the_rest_of_a_plan(tmp_path: Path) -> None:
    tries = [*(Try(ways=(f"count {number}",), wants="prints") for number in range(20)), Try(ways=("count last",))]
    found = probed(lambda words, files: f"{words} {'=' * 20}", tmp_path, tuple(tries))
    assert "count last" in found.of("call")
    assert "count 19" not in found.of("call")


def test_a_call_that_waits_is_not_tried_with_other_arguments(tmp_path: Path) -> None:
    class Waiting(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            self.files[command] = ""
            return CommandResult(command=command, end="timeout")

    session = Waiting(lambda words, files: None, tmp_path)
    prober = Prober(plans={"plan": (Try(ways=("count edit", "count edit 1")),)})
    asyncio.run(prober.run(cast("Session", session)))
    assert "count edit 1" not in session.files


def test_last_of_a_plan_comes_what_there_is_when_options_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "error", "there is none")
    tried: list[str] = []

    def emptied(words: list[str], files: dict[str, str]) -> str | None:
        tried.append(words[-1])
        return None if words[-1] == "remove" and tried.count("remove") == 1 else words[-1]

    probed(emptied, tmp_path, (Try(ways=("count remove",)), Try(ways=("count add",), last=True)))
    assert tried[:3] == ["remove", "remove", "add"]


def test_a_subcommand_whose_output_differs_each_time_gets_its_options_too(tmp_path: Path) -> None:
    calls: list[str] = []

    def numbered(words: list[str], files: dict[str, str]) -> str | None:
        calls.append(words[0])
        return f"{words[0]} {len(calls) if words[0] == 'add' else ''} {'--due' in words}\n"

    pages = {"": "Commands:\n  add   A\n  list  L\n", "add": "usage: count add\n\nOptions:\n  --due  D\n"}
    prober = Prober(
        plans={"plan": (Try(ways=("count add",)), Try(ways=("count list",)))}, parts=of_help(pages, "count")
    )
    session = FakeSession(numbered, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    assert read_found([one.text for one in session.events]).of("option") == ("count add --due",)


def test_a_text_of_the_tests_is_an_input(tmp_path: Path) -> None:
    prober = Prober(
        plans={"plan": (Try(ways=("count sample.py",)),)},
        inputs=("sample.py", "given1.py"),
        given={"given1.py": "def a\n"},
    )
    session = FakeSession(of_python, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events])
    assert "count given1.py" in found.of("call")
    assert found.files["given1.py"] == "def a\n"


def test_a_plan_has_the_seconds_that_others_leave() -> None:
    prober = Prober(plans={"one": (), "two": (), "three": ()})
    before = prober._seconds("three")
    prober._used.update(one=0.0)
    assert prober._seconds("three") > before


def test_all_plans_can_be_tried_again(tmp_path: Path) -> None:
    prober = Prober(plans={"plan": (Try(ways=("count add",)),), "other": ()})
    for _ in range(2):
        session = FakeSession(lambda words, files: "added", tmp_path)
        asyncio.run(prober.run(cast("Session", session)))
        assert read_found([one.text for one in session.events]).of("call") == ("count add",)


def test_variations_that_show_other_things_are_kept_and_few_of_those_that_are_refused_alike(tmp_path: Path) -> None:
    shown = {"3": "few", "12": "more than a few words", "0": "none"}

    def small(words: list[str], files: dict[str, str]) -> str | None:
        return shown.get(words[-1])

    found = probed(small, tmp_path, (Try(ways=("count 5 3",)),))
    kept = {*found.of("variation")}
    assert {one for one in kept if one.startswith("count 5 ")} == {"count 5 12", "count 5 0"}
    assert kept >= {"count 0 3", "count 14 3", "count 1.05 3"}
    assert found.of("refused") == ("count 5 5",)  # `count 5 14` and others are refused with the same words


def test_a_text_that_a_call_writes_is_shown(tmp_path: Path) -> None:
    def writing(words: list[str], files: dict[str, str]) -> str | None:
        (tmp_path / "out.txt").write_text(" ".join(words), encoding="utf-8")
        files["out.txt"] = "written"
        return ""

    found = probed(writing, tmp_path, (Try(ways=("count one",)),))
    assert found.of("call") == ("count one && cat out.txt",)


def test_a_text_that_a_call_writes_in_a_folder_is_shown_there_even_if_the_call_warns(tmp_path: Path) -> None:
    def writing(words: list[str], files: dict[str, str]) -> str | None:
        (tmp_path / "work").mkdir(exist_ok=True)
        (tmp_path / "work/out.txt").write_text(" ".join(words), encoding="utf-8")
        files["work/out.txt"] = "written"
        return "warning: remote not found\n"

    found = probed(writing, tmp_path, (Try(ways=("cd work && count one",)),))
    assert found.of("call") == ("cd work && count one && cat out.txt",)


def test_words_of_an_output_are_values_of_options(tmp_path: Path) -> None:
    def filtering(words: list[str], files: dict[str, str]) -> str | None:
        left = [word for word in ("apple", "pear") if "--only" not in words or word in words]
        return "\n".join(left)

    help_text = "usage: count [options]\n\nOptions:\n  --only WORD   Only this one\n"
    found = probed(filtering, tmp_path, (Try(ways=("count all",)),), help_text)
    assert found.of("option") == ("count --only apple all",)


def test_an_option_is_tried_by_its_short_name_too(tmp_path: Path) -> None:
    def quick(words: list[str], files: dict[str, str]) -> str | None:
        return "many words, slow" if {"-q", "--quick"}.isdisjoint(words) else "few"

    found = probed(quick, tmp_path, (Try(ways=("count hi",)),), "options:\n  -q, --quick  Quick\n")
    assert "count --quick hi" in found.of("option")
    assert "count -q hi" in found.of("variation")


def test_a_line_with_an_option_is_also_tried_on_its_input_with_other_line_ends(tmp_path: Path) -> None:
    def counting(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        return None if not texts else f"ends {texts[0].count(chr(13))}" if "--long" in words else "text"

    found = probed(counting, tmp_path, (Try(ways=("count sample.txt",)),), HELP)
    assert "count --long crlf.txt" in found.of("variation")


def test_an_unknown_option_is_also_tried_with_an_input(tmp_path: Path) -> None:
    def strict(words: list[str], files: dict[str, str]) -> str | None:
        return None if UNKNOWN in words else "3" * len(words)

    found = probed(strict, tmp_path, (Try(ways=("count sample.txt",)),))
    assert f"count {UNKNOWN} sample.txt" in found.of("refused")


def test_a_file_of_the_repository_that_is_no_text_is_an_input(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0\xff")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\0\xfe\xff")

    def measuring(words: list[str], files: dict[str, str]) -> str | None:
        sizes = [len(files[word].encode("utf-8", "surrogateescape")) for word in words if word in files]
        return f"{sizes}" if sizes else None

    session = FakeSession(measuring, tmp_path)
    line = (Try(ways=("count a.png",)),)
    asyncio.run(Prober(plans={"plan": line}, inputs=("a.png",), cases=(("b.png", ""),)).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert {"count a.png", "count b.png"} < {*found.of("call")}
    written = template_files(Tool("count"), Candidate("main", "", (), files=found.files))
    assert written["scenarios/main/b.png"] == b"\x89PNG\0\xfe\xff"


def test_the_first_line_with_an_input_is_tried_with_that_on_stdin(tmp_path: Path) -> None:
    def reading(words: list[str], files: dict[str, str]) -> str | None:
        return None if "-" in words else "".join(files[word] for word in words if word in files)[:9] or None

    found = probed(reading, tmp_path, (Try(ways=("count sample.txt",)), Try(ways=("count sample.json",))))
    assert found.of("variation")[-1] == "count < sample.txt"


def test_options_are_tried_on_calls_that_print_the_same_again(tmp_path: Path) -> None:
    added: list[str] = []

    def keeping(words: list[str], files: dict[str, str]) -> str | None:
        added.extend(["x"] * ("add" in words))
        return f"{len(added)} added" if "add" in words else " ".join(words)

    found = probed(keeping, tmp_path, tuple(Try(ways=(line,)) for line in ("count add", "count list")), HELP)
    assert found.of("option") == ("count --long list", "count --quick list", "count --quick --long list")


def test_a_tool_that_needs_an_option_to_do_something_gets_each(tmp_path: Path) -> None:
    found = probed(lambda words, files: "1" if "--long" in words else None, tmp_path, (Try(ways=("count",)),), HELP)
    assert found.of("option") == ("count --long",)


def test_a_call_that_failed_alike_on_three_inputs_gets_no_fourth_unless_it_worked_on_one(tmp_path: Path) -> None:
    names = ("sample.py", "sample.txt", "sample.json", "other.py", "other.txt")
    tries = tuple(Try(ways=(f"count {name}",), wants="prints") for name in names)
    called: list[str] = []

    def strict(words: list[str], files: dict[str, str]) -> str | None:
        called.append(words[-1])
        return "ok" if fit in words else None

    for fit in ("none", "sample.py"):
        called.clear()
        session = FakeSession(strict, tmp_path)
        asyncio.run(Prober(plans={"plan": tries}, inputs=names).run(cast("Session", session)))
        assert ("other.txt" in called) == (fit != "none")


@pytest.mark.parametrize(("told", "hidden"), [("", ""), ("Rewriting it", " 2>/dev/null")])
def test_a_formatter_that_exits_with_another_status_is_shown_with_the_file_that_it_changed(
    tmp_path: Path, told: str, hidden: str
) -> None:
    class Formatting(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            name = "copy.txt" if "copy" in command else "sample.txt"
            self.files |= {name: "formatted"} if "sample.txt" in self.files else {}
            shown = self.files.get(name, "") if " cat " in command else ""
            error = "" if "2>" in command else told
            return CommandResult(command=command, end="exited", exit_code=3, stdout=shown, stderr=error)

    session = Formatting(of_python, tmp_path)
    asyncio.run(Prober(plans={"plan": (Try(ways=("count sample.txt",)),)}).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    line = f"cp sample.txt copy.txt && count copy.txt{hidden}; status=$?; cat copy.txt; (exit $status)"
    assert found.of("call") == (line,)


def test_a_crash_that_changes_its_file_is_no_result(tmp_path: Path) -> None:
    class Crashing(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            self.files |= dict.fromkeys(self.files, "half")
            shown, error = ("half", "") if "2>" in command else ("", "Traceback (most recent call last):\n")
            return CommandResult(command=command, end="exited", exit_code=1, stdout=shown, stderr=error)

    session = Crashing(of_python, tmp_path)
    asyncio.run(Prober(plans={"plan": (Try(ways=("count sample.txt",)),)}).run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert found.of("call") == ()


def test_options_are_tried_on_a_line_that_repeats_its_input(tmp_path: Path) -> None:
    class Repeating(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            text = self.files.get("sample.txt", "")
            shown = text.upper() if "--upper" in command else text
            return CommandResult(command=command, end="exited", exit_code=0, stdout=shown if "<" in command else "")

    parts = of_help({"": "options:\n  --upper  In capitals\n"}, "count")
    tries = (Try(ways=("count < sample.txt",), wants="prints"), Try(ways=("count",), wants="prints"))
    session = Repeating(of_python, tmp_path)
    prober = Prober(plans={"plan": tries}, parts=parts, inputs=("sample.txt",))
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert found.of("option") == ("count --upper < sample.txt",)


def test_a_call_that_changes_files_which_other_lines_read_is_not_kept(tmp_path: Path) -> None:
    def fixing(words: list[str], files: dict[str, str]) -> str | None:
        if "--fix" in words:
            files |= dict.fromkeys(("sample.txt", "sample.py"), "fixed\n")
        return f"{len(''.join(files.values()))} {'--fix' in words}" if words[-1] in files else None

    tries = tuple(Try(ways=(f"count {name}",)) for name in ("sample.txt", "sample.py"))
    found = probed(fixing, tmp_path, tries, "usage: count FILE\n\nOptions:\n  --fix  Fix all\n")
    assert found.of("call")
    assert not [call for call in found.calls if "--fix" in call.line and call.kind != "refused"]
    assert "fixed\n" not in found.files.values()


def test_a_binary_file_that_a_call_writes_is_not_shown(tmp_path: Path) -> None:
    def writing(words: list[str], files: dict[str, str]) -> str | None:
        (tmp_path / ".backup").write_text("x", encoding="utf-8")
        files[".backup"] = "x\x00\x0c"
        return "done"

    assert probed(writing, tmp_path, (Try(ways=("count one",)),)).of("call") == ("count one",)


def test_a_call_that_looks_for_files_by_itself_gets_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSession, "error", "No Python or Python-like files found in '/tmp/x'.")

    def walking(words: list[str], files: dict[str, str]) -> str | None:
        return f"{len(files)} files" if "sample.py" in files else None

    found = probed(walking, tmp_path, (Try(ways=("count --all",)),))
    assert (found.of("call"), "sample.py" in found.files) == (("count --all",), True)


def test_a_file_whose_name_has_no_suffix_is_made_if_the_error_says_that_one_is_missing(tmp_path: Path) -> None:
    def reading(words: list[str], files: dict[str, str]) -> str | None:
        return f"read {len(files)}" if words[-1] in files else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeSession, "error", "the file does not exist")
        found = probed(reading, tmp_path, (Try(ways=("count notes/a",)), Try(ways=("count word",))))
    assert (found.of("call"), [*found.files]) == (
        ("count notes/a", "count crlf", "count spaced", "count unended", "count empty"),
        ["notes/a", "more.txt", "crlf", "spaced", "unended", "empty"],
    )


def test_a_file_of_the_repository_keeps_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "data.gz").write_bytes(b"\x1f\x8b\xff a")

    def reading(words: list[str], files: dict[str, str]) -> str | None:
        return "read" if words[0] in files else None

    found = probed(reading, tmp_path, (Try(ways=("count data.gz",)),))
    candidate = Candidate("plan", "", (), files=found.files)
    tool = Tool("count", (), (), "Makefile")
    assert template_files(tool, candidate) == {f"{tool.scenarios}/plan/data.gz": b"\x1f\x8b\xff a"}


def test_a_configuration_that_an_error_names_is_taken_from_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test/.countrc").write_text("all: on", encoding="utf-8")
    monkeypatch.setattr(FakeSession, "error", 'Could not find default config file ".countrc" here.')

    def configured(words: list[str], files: dict[str, str]) -> str | None:
        return files.get(".countrc")

    found = probed(configured, tmp_path, (Try(ways=("count --all",)),))
    assert (found.of("call"), found.files) == (("count --all",), {".countrc": "all: on"})


@pytest.mark.parametrize(("load", "cores", "times"), [(0.4, 2, 1.0), (4.0, 2, 2.0), (40.0, 2, MOST_SLOW)])
def test_a_busy_machine_gets_more_time(monkeypatch: pytest.MonkeyPatch, load: float, cores: int, times: float) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    slowness.cache_clear()
    assert slowness() == times
    monkeypatch.setattr("os.getloadavg", lambda: (load + 9, 0.0, 0.0))
    assert slowness() == times  # what came later is its own work
    slowness.cache_clear()


def test_what_is_tried_later_has_its_own_part_of_the_time_if_the_plan_s_part_falls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, seconds = [0.0], [300.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    probe = Probe(cast("Session", None), seconds=lambda: seconds[0], began=0.0)
    probe.allow(0.5)
    now[0] = 151.0
    assert probe.is_late
    seconds[0] = 100.0
    probe.allow(0.9)
    now[0] = 190.0
    assert not probe.is_late
    now[0] = 192.0
    assert probe.is_late


def test_an_option_is_combined_with_others_than_the_next_one(tmp_path: Path) -> None:
    def marking(words: list[str], files: dict[str, str]) -> str | None:
        own = [word for word in words if word in files]
        return f"{files[own[0]]} {' '.join(sorted({*words} - {*own}))}" if own else None

    options = "Options:\n  --all  A\n  --big  B\n  --odd  C\n"
    found = probed(marking, tmp_path, (Try(ways=("count sample.py",)),), options)
    assert any("--all" in line and "--odd" in line and "--big" not in line for line in found.of("option"))


def test_what_reads_comes_again_if_it_prints_other_than_last_though_it_did_so_before(tmp_path: Path) -> None:
    kept = ["a"]

    def keeping(words: list[str], files: dict[str, str]) -> str | None:
        if words[0] == "add":
            kept.extend(words[1:2])
        elif words[0] == "rm":
            kept[:] = [one for one in kept if one not in words]
        return "\n".join(kept) if words[0] == "ls" else f"{words[0]} {words[1:]}"

    ls = Try(ways=("count ls",), wants="changes")
    add, rm = (Try(ways=(f"count {name} b",)) for name in ("add", "rm"))
    found = probed(keeping, tmp_path, (ls, ls, add, ls, rm, ls)).of("call")
    assert found == ("count ls", "count add b", "count ls", "count rm b", "count ls")


def test_an_option_that_shows_something_with_two_values_gets_both_at_once(tmp_path: Path) -> None:
    def picking(words: list[str], files: dict[str, str]) -> str | None:
        return " ".join(word for word in words if word in ("one", "two")) or "all"

    usage = "usage: count [-x {one,two}] FILE\n\n  -x {one,two}  The kind.\n"
    found = probed(picking, tmp_path, (Try(ways=("count sample.txt",)),), usage)
    assert "count -x one -x two sample.txt" in found.of("variation")


def test_an_example_that_reads_a_file_is_called_on_more_than_the_usual_sample_too(tmp_path: Path) -> None:
    def rows(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        return f"{texts[0].count(',')} commas\n" if texts else None

    found = probed(rows, tmp_path, (Try(ways=("count people.csv",)), Try(ways=("count list.odd",))))
    assert "count more.csv" in found.of("variation")
    assert "more.csv" in found.files


def test_an_example_of_a_file_that_the_tool_has_made_is_called_on_samples_too(tmp_path: Path) -> None:
    def setting(words: list[str], files: dict[str, str]) -> str | None:
        if words[0] == "--set":
            files.setdefault(words[1], "[own]\n")
        text = files.get(words[1])
        return None if text is None else f"{words[0]} in {text.count('[')} sections\n"

    session = FakeSession(setting, tmp_path)
    tries = (Try(ways=("count --set settings a",)), Try(ways=("count --get settings a",)))
    prober = Prober(plans={"plan": tries}, inputs=("sample.ini",))
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert {"count --get sample.ini a", "count --get more.ini a"} <= {*found.of("variation")}


def test_a_word_that_has_to_be_a_file_is_one_not_a_folder(tmp_path: Path) -> None:
    def reading(words: list[str], files: dict[str, str]) -> str | None:
        return f"read {files[words[-1]].count('a')}\n" if words[-1] in files else None

    session = FakeSession(reading, tmp_path)
    session.error = "the argument '{}' is supposed to be a file"
    prober = Prober(plans={"plan": (Try(ways=("count my-script",)),)}, inputs=("sample.txt",))
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert "count my-script" in found.of("call")
    assert "my-script" in found.files


def test_calls_that_begin_with_an_option_get_the_other_options_too(tmp_path: Path) -> None:
    def asked(words: list[str], files: dict[str, str]) -> str | None:
        if "sample.ini" not in words:
            return None
        way = "".join(word[:3] for word in words if word in ("--get", "--all"))
        return f"{way or 'nothing'} {'as lines' if '--lines' in words else ''}\n"

    help_text = "usage: count [options]\n\n  --get  Get\n  --all  All\n  --lines  As lines\n"
    tries = (Try(ways=("count --get sample.ini",)), Try(ways=("count --all sample.ini",)))
    found = probed(asked, tmp_path, tries, help_text)
    lines = {*found.of("option"), *found.of("variation")}
    assert {"count --lines --get sample.ini", "count --lines --all sample.ini"} <= lines
