"""On which lines and inputs options are tried, and which calls with many inputs are kept."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import cast

import pytest

from tests.unit.authoring.test_cases import found_with
from tests.unit.authoring.test_probing import HELP, Does, FakeSession, of_python, probed
from tidegate.authoring.main_use import main_use
from tidegate.authoring.observed_gates import crashed
from tidegate.authoring.option_calls import Try, with_option
from tidegate.authoring.probe import Probe
from tidegate.authoring.probing import Prober
from tidegate.decide.surface.parts import of_help
from tidegate.model.agent import Session
from tidegate.model.event import CommandResult
from tidegate.model.surface import Part


def sized(words: list[str], files: dict[str, str]) -> str | None:
    return f"{len(files[words[-1]])} characters\n" if words[-1] in files else None


def probe_of(tool: Does, folder: Path) -> Probe:
    """A probe with the file `a.txt`."""
    probe = Probe(cast("Session", FakeSession(tool, folder)), ("a.txt",), until=float("inf"))
    probe.session.write_text("a.txt", "a\n")
    probe.files["a.txt"] = "a\n"
    return probe


def test_few_calls_with_many_inputs_are_tried_if_all_are_refused(tmp_path: Path) -> None:
    tried = list[str]()

    def refusing(words: list[str], files: dict[str, str]) -> str | None:
        tried.extend(word for word in words if word.startswith("joined"))
        return None if words[0].startswith("joined") else sized(words, files)

    found_with(refusing, tmp_path, {f"{number}.txt": "x" * 300 for number in range(60)})
    assert 8 <= len({*tried}) <= 26


def test_texts_of_any_kind_go_with_the_first_kind_of_input_that_shows_something(tmp_path: Path) -> None:
    def of_text(words: list[str], files: dict[str, str]) -> str | None:
        text = files.get(words[-1])
        return (
            None if text is None or len(words) > 1 or (words[-1].endswith(".odd") and "odd" not in text) else f"{text}!"
        )

    plans = {"plan": (Try(ways=("count a.odd",)), Try(ways=("count b.txt",)))}
    prober = Prober(plans=plans, inputs=("a.odd", "b.txt"), cases=tuple((f"case{n}", f"text {n}\n") for n in range(9)))
    session = FakeSession(of_text, tmp_path)
    session.files["a.odd"] = "an odd one\n"
    asyncio.run(prober.run(cast("Session", session)))
    found = session.events[0].text
    assert re.search(r"count joined\d+\.txt", found)
    assert not re.search(r"count joined\d+\.odd", found)
    assert "count case1.txt" in found


def test_texts_of_any_kind_go_with_a_file_that_they_can_be_a_part_of(tmp_path: Path) -> None:
    def any_file(words: list[str], files: dict[str, str]) -> str | None:
        return "".join(files[word] for word in words if word in files) + "!" if words[-1] in files else None

    plans = {"plan": (Try(ways=("count a.yaml",)), Try(ways=("count b.txt",)))}
    given = tuple((f"case{n}", f"text {n}\n") for n in range(9))
    session = FakeSession(any_file, tmp_path)
    asyncio.run(Prober(plans=plans, inputs=("a.yaml", "b.txt"), cases=given).run(cast("Session", session)))
    assert "joined1.txt" in session.events[0].text
    assert "case1.yaml" not in session.events[0].text


def test_no_large_file_is_made_of_a_kind_that_holds_one_value(tmp_path: Path) -> None:
    tried = list[str]()

    def reading(words: list[str], files: dict[str, str]) -> str | None:
        tried.extend(words)
        return sized(words, files)

    found_with(reading, tmp_path, {}, own="a.json")
    assert "long.json;" not in tried


def test_an_option_that_another_plan_has_shown_is_not_tried_on_further_lines(tmp_path: Path) -> None:
    part = next(one for one in of_help({"": HELP}, "count") if one.name == "--long")
    prober = Prober(plans={"plan": ()}, parts=(part,))
    probe = probe_of(of_python, tmp_path)
    probe.session.write_text("a.py", "def a(): ...\n")
    probe.printed["count a.py"] = ""
    prober._told.add(part.id)
    assert asyncio.run(prober._try_option(probe, part, ["count a.py"], True)) == []
    prober._told.clear()
    assert asyncio.run(prober._try_option(probe, part, ["count a.py"], True)) != []


def test_a_case_takes_the_place_of_the_input_that_is_meant(tmp_path: Path) -> None:
    probe = probe_of(sized, tmp_path)
    probe.files["b.txt"] = "b\n"
    assert asyncio.run(probe.on_cases("count --with a.txt b.txt", [("case.txt", "case\n")], own="b.txt"))
    assert probe.calls[0].line == "count --with a.txt case.txt"


def test_a_case_that_prints_only_rows_that_others_printed_is_not_kept(tmp_path: Path) -> None:
    def rows(words: list[str], files: dict[str, str]) -> str | None:
        return f"begin\n{files[words[-1]]}" if words[-1] in files else None

    probe = probe_of(rows, tmp_path)
    for name, text, is_kept in (("x.txt", "one\ntwo\n", True), ("y.txt", "two\none\n", False), ("z.txt", "3\n", True)):
        assert asyncio.run(probe.on_cases("count a.txt", [(name, text)])) == is_kept, name


@pytest.mark.parametrize(("line", "erring"), [("count b < a.txt", False), ("count b a.txt", True)])
def test_lines_that_read_stdin_or_print_to_stderr_come_later_for_options(
    tmp_path: Path, line: str, *, erring: bool
) -> None:
    probe = probe_of(lambda words, _: "shown", tmp_path)
    probe.printed |= {"count a a.txt": "0 x\ny", line: "0 x\ny\nz" + "\nz" * 40 * erring}
    probe.erring |= {line} if erring else set()
    first, *_ = asyncio.run(probe.repeatable([line, "count a a.txt"]))
    assert first == "count a a.txt"


def test_a_file_whose_name_is_its_kind_is_provided_also_if_the_error_does_not_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "error", "there is none")
    assert probed(sized, tmp_path, (Try(ways=("count .env",)),)).of("call")[0] == "count .env"


class InPlace(FakeSession):
    """A tool that puts its files in capitals."""

    async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
        shown = ""
        for program, *words in (step.split() for step in command.split(" && ")):
            named = [word for word in words if word in self.files]
            if program == "cp":
                self.files[words[1]] = self.files[words[0]]
            elif program == "count" and not named:
                return CommandResult(command=command, end="exited", exit_code=2, stderr=f"cannot read {words}")
            elif program == "count":
                self.files |= {name: self.files[name].upper() + "!" * ("--long" in words) for name in named}
            else:
                shown += "".join(self.files[name] for name in named)
        return CommandResult(command=command, end="exited", exit_code=0, stdout=shown)


def test_an_option_of_a_tool_that_changes_files_in_place_is_tried_on_its_own_line(tmp_path: Path) -> None:
    part, *_ = of_help({"": "options:\n  --long  Long\n"}, "count")
    probe = Probe(cast("Session", InPlace(sized, tmp_path)), ("a.txt",), until=float("inf"))
    base = asyncio.run(probe.tried(Try(ways=("count a.txt",))))
    assert base is not None
    (call,) = asyncio.run(Prober(parts=(part,))._try_option(probe, part, [base.line], False))
    assert call.line == "cp a.txt copy.txt && count --long copy.txt && cat copy.txt"
    assert probe.plain[call.line] == "count --long a.txt"


def test_files_that_a_call_changes_in_place_are_copied_for_it(tmp_path: Path) -> None:
    session = InPlace(sized, tmp_path)
    parts = of_help({"": "options:\n  --long  Long\n"}, "count")
    prober = Prober(plans={"plan": (Try(ways=("count a.txt",)),)}, parts=parts, inputs=("a.txt", "b.txt"))
    asyncio.run(prober.run(cast("Session", session)))
    found = session.events[0].text
    both = "cp a.txt copy.txt && cp b.txt copy1.txt && count {}copy.txt copy1.txt && cat copy.txt copy1.txt"
    assert "cp a.txt copy.txt && count copy.txt && cat copy.txt" in found
    assert '"count no-such-a.txt"' in found
    assert "no-such-a.txt a.txt" not in found
    assert both.format("") in found
    assert both.format("--long ") in found


def test_no_file_is_provided_below_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSession, "error", "cannot read {}/.a.cfg")
    found = probed(sized, tmp_path, (Try(ways=("count conf/.a.cfg",)), Try(ways=("count conf/.a.cfg/.a.cfg",))))
    assert [name for name in found.files if name.startswith("conf")] == ["conf/.a.cfg"]


def test_a_file_is_given_by_the_option_for_it_and_numbers_may_be_zero() -> None:
    reads = Part(name="--input", kind="option", takes_value=True)
    assert next(with_option("tally a.md", "tally", reads, ())) == Try(ways=("tally --input a.md",), wants="works")
    width = Part(name="--width", kind="option", takes_value=True)
    assert ("tally --width 0 a.md",) in [one.ways for one in with_option("tally a.md", "tally", width, ())]
    parts = [Part(name=name, kind="option", takes_value=True) for name in ("--data-file", "--log-file")]
    tries = main_use("tally", ["a.md", "b.md", "c.md"], [], parts)
    named = [one.ways[0] for one in tries.tries if "--" in one.ways[0]]
    assert named == ["tally --data-file a.md", "tally --data-file b.md"]


def test_a_program_that_lacks_a_module_of_perl_has_crashed() -> None:
    told = "Can't locate File/Next.pm in @INC (you may need to install it)\nBEGIN failed--compilation aborted.\n"
    assert crashed(CommandResult(command="ack", end="exited", exit_code=2, stderr=told))


def test_if_no_sample_works_inputs_of_tests_are_tried_those_with_most_marks_first(tmp_path: Path) -> None:
    def strict(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        return f"{len(texts[0])}\n" if texts and texts[0].startswith("[metadata]") else None

    plans = {"plan": tuple(Try(ways=(f"count {name}",), wants="prints") for name in ("a.ini", "b.ini", "c.md"))}
    given = (
        ("case1", "no\n"),
        ("case2", "[metadata]\nname = a\nof: (b)\n"),
        ("case3", "[other]\n- a; b, {c} / d | (e) = f: <g>\n"),
    )
    session = FakeSession(strict, tmp_path)
    asyncio.run(Prober(plans=plans, inputs=("a.ini", "b.ini", "c.md"), cases=given).run(cast("Session", session)))
    assert '"count fit2.ini"' in session.events[0].text


def test_a_line_with_braces_is_tried_on_inputs_of_tests(tmp_path: Path) -> None:
    def strict(words: list[str], files: dict[str, str]) -> str | None:
        texts = [files[word] for word in words if word in files]
        return "1\n" if texts and texts[0] == "right\n" else None

    plans = {"plan": (Try(ways=("count '{print $1}' a.ini",), wants="prints"),)}
    session = FakeSession(strict, tmp_path)
    asyncio.run(Prober(plans=plans, inputs=("a.ini",), cases=(("case1", "right\n"),)).run(cast("Session", session)))
    assert "count '{print $1}' fit1.ini" in session.events[0].text


def test_inputs_of_tests_stay_in_their_place_where_a_sample_works(tmp_path: Path) -> None:
    def any_file(words: list[str], files: dict[str, str]) -> str | None:
        return "".join(f"{files[word]}!" for word in words if word in files) or None

    plans = {"plan": (Try(ways=("count a.ini",), wants="prints"),)}
    session = FakeSession(any_file, tmp_path)
    asyncio.run(Prober(plans=plans, inputs=("a.ini",), cases=(("case1", "x\n"),)).run(cast("Session", session)))
    assert "fit1.ini" not in session.events[0].text
