"""Inputs that tests have: which come first, and which calls with them are kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

from tests.unit.authoring.test_probing import Does, FakeSession
from tidegate.authoring.examples import in_help, with_shown_values
from tidegate.authoring.found import Found, read_found
from tidegate.authoring.input_files import content_of
from tidegate.authoring.option_calls import Try, with_option
from tidegate.authoring.probe import MOST_REFUSED_CASES
from tidegate.authoring.probing import LONGEST_JOINED, Prober
from tidegate.authoring.samples import joins
from tidegate.authoring.tool_inputs import cases, kinds_named_in
from tidegate.decide.surface.parts import of_help
from tidegate.model.agent import Session
from tidegate.model.event import CommandResult, Message


def found_with(
    tool: Does, repo: Path, given: dict[str, str], help_text: str = "", own: str = "sample.txt", form: str = "count {}"
) -> Found:
    """What a prober keeps that knows these inputs of tests."""
    prober = Prober(
        plans={"plan": (Try(ways=(form.format(own),)),)},
        parts=of_help({"": help_text}, "count"),
        inputs=(own,),
        cases=tuple(given.items()),
    )
    session = FakeSession(tool, repo)
    asyncio.run(prober.run(cast("Session", session)))
    return read_found([one.text for one in session.events if isinstance(one, Message)])


def commas(words: list[str], files: dict[str, str]) -> str | None:
    """Counts commas; refuses a text with braces."""
    text = files.get(words[-1])
    return None if text is None or "{" in text else f"{text.count(',')} commas, {len(words)} words\n"


def test_files_of_the_kinds_that_docs_name_come_first_then_texts_of_code_each_with_new_marks_first(
    tmp_path: Path,
) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    for name, text in {
        "a.md": "# A\n",
        "b.md": "## Bb\n",
        "c.md": "- c, d\n",
        "d.log": "x\n",
        "e.md": "#\n" * 4_000,
    }.items():
        (tests / name).write_text(text)
    found = cases(tmp_path, ['check("""\none\ntwo\n""")'], ["Reads notes.md"])
    assert [name for name, _ in found] == ["a.md", "b.md", "c.md", "case1", "d.log"]
    assert dict(found)["case1"] == "one\ntwo\n"
    (tests / "f.md").write_text("# And more\n")
    assert [name for name, _ in cases(tmp_path, [], ["notes.md"])][-2:] == ["f.md", "d.log"]  # it has nothing new


def test_objects_in_the_code_of_tests_are_inputs_of_a_tool_for_json_and_new_keys_come_first(tmp_path: Path) -> None:
    code = ["""sort({"b": 1}); sort({"b": 2}); sort({"a": {"c": []}}); check('{b: 1}')"""]
    found = [text for _, text in cases(tmp_path, code, ["Sorts data.json"])]
    assert found == ['{"b": 1}\n', '{"c": []}\n', '{"a": {"c": []}}\n', '{"b": 2}\n', "{b: 1}\n"]
    assert [text for _, text in cases(tmp_path, code, ["Sorts data.txt"])] == ["{b: 1}\n"]


def test_an_input_of_a_test_is_kept_if_it_shows_something_new_or_is_refused(tmp_path: Path) -> None:
    found = found_with(commas, tmp_path, {"one.txt": "a,b\n", "alike.txt": "c,d\n", "bad.txt": "{\n", "code.py": ",,,"})
    assert "count one.txt" in found.of("call")
    assert "count alike.txt" not in found.of("call")
    assert "count bad.txt" in found.of("refused")
    assert {"one.txt", "bad.txt"} <= found.files.keys()
    assert {"alike.txt", "code.py"}.isdisjoint(found.files)


def test_a_text_of_code_gets_the_kind_of_the_tools_input(tmp_path: Path) -> None:
    assert "count case1.txt" in found_with(commas, tmp_path, {"case1": "a,b,c,d,e\n"}).of("call")


def test_a_link_of_the_docs_names_no_kind_of_input() -> None:
    assert kinds_named_in(["[a](a.md), [b](docs/b.md), https://example.org/c.md: run it on d.py"]) == [".py"]


def test_the_formats_that_the_first_lines_name_come_before_suffixes() -> None:
    readme = f"A parser for CommonMark, with JSON. Markdown only.{' ' * 800}It is in a.c, b.c and c.c, not in YAML."
    assert kinds_named_in([readme]) == [".md", ".json", ".c"]
    assert kinds_named_in(["Checks Python source files for errors. See NEWS.rst and README.rst."]) == [".py", ".rst"]


def test_code_of_tests_comes_after_the_texts_in_it(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    code = "check('a = {}\\nb\\n')\n"
    (tmp_path / "tests" / "test_a.py").write_text(code)
    (tmp_path / "tests" / "given.py").write_text("a = 1\n")
    names = [name for name, _ in cases(tmp_path, [code], ["Reads a.py"])]
    assert (names[:2], names[-1]) == (["given.py", "case1"], "test_a.py")


def test_a_text_of_code_that_is_one_character_or_has_controls_is_no_input(tmp_path: Path) -> None:
    assert [text for _, text in cases(tmp_path, ["is('}'); is('\\x02;'); is('{};')"], [])] == ["{};\n"]


def test_what_docs_show_as_a_file_of_the_tools_kind_comes_before_texts_of_tests(tmp_path: Path) -> None:
    docs = "Reads a.js\n```javascript\nf(1);\n```\n```sh\nrun\n```\n```python\nf()\n```\n  ```tally\n  [a]\n  ```\n"
    assert [text for _, text in cases(tmp_path, ["is('{};')"], [docs])] == ["[a]\n", "f(1);\n", "{};\n"]


def test_line_ends_and_an_empty_input_are_tried(tmp_path: Path) -> None:
    def ends(words: list[str], files: dict[str, str]) -> str | None:
        return repr(files[words[-1]][-2:]) if words[-1] in files else None

    calls = found_with(ends, tmp_path, {}).of("call")
    assert {"count crlf.txt", "count unended.txt", "count empty.txt"} <= {*calls}


def test_other_line_ends_are_kept_also_if_the_tool_shows_the_same(tmp_path: Path) -> None:
    def words_of(words: list[str], files: dict[str, str]) -> str | None:
        return " ".join(files[words[-1]].split()) + "." if words[-1] in files else None

    found = found_with(words_of, tmp_path, {})
    assert {"count crlf.txt", "count unended.txt"} <= {*found.of("variation")}
    assert "count spaced.txt" not in {call.line for call in found.calls}


def test_empty_rows_and_an_empty_list_are_tried(tmp_path: Path) -> None:
    def lines(words: list[str], files: dict[str, str]) -> str | None:
        return files[words[-1]][:1] + str(files[words[-1]].count("\n")) if words[-1] in files else None

    prober = Prober(plans={"plan": (Try(ways=("count more.json",)),)}, inputs=("more.json",))
    session = FakeSession(lines, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert {"count spaced.json", "count none.json"} <= {*found.of("call")}
    assert found.files["none.json"] == "[]\n"
    assert found.files["more.json"].startswith("[")


def test_few_inputs_of_tests_that_are_refused_are_kept(tmp_path: Path) -> None:
    given = {f"case{number}": f"{{{'x' * number}\n" for number in range(20)}

    class Naming(FakeSession):
        async def shell(self, command: str, *, timeout_secs: float) -> CommandResult:
            ran = await super().shell(command, timeout_secs=timeout_secs)
            text = self.files.get(command.split()[-1], "")
            return ran.model_copy(update={"stderr": f"cannot read {text}"}) if ran.exit_code else ran

    prober = Prober(
        plans={"plan": (Try(ways=("count sample.txt",)),)}, inputs=("sample.txt",), cases=tuple(given.items())
    )
    session = Naming(commas, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert len([line for line in found.of("refused") if "case" in line]) == MOST_REFUSED_CASES


def test_a_refused_option_is_kept(tmp_path: Path) -> None:
    def refusing(words: list[str], files: dict[str, str]) -> str | None:
        return None if "--check" in words else commas(words, files)

    found = found_with(refusing, tmp_path, {}, "usage: count [--check] FILE\n\n  --check  Only check\n")
    assert any("--check" in line for line in found.of("refused"))


def test_examples_of_a_help_page_are_calls() -> None:
    page = """\
USAGE: tally [-h|--help] VALUE,...
  tally add TEXT      Adds a task
  tally list  Lists all
EXAMPLES:
  tally 1,5,22
  echo 9 13 | tally
  $ tally add milk   # adds it
"""
    plan = in_help("tally", [page])
    assert [one.ways[0] for one in plan.tries] == ["tally list", "tally 1,5,22", "echo 9 13 | tally", "tally add milk"]


def test_inputs_of_tests_that_cannot_be_joined_are_tried_as_many_files_and_in_halves_if_that_fails(
    tmp_path: Path,
) -> None:
    def of_several(words: list[str], files: dict[str, str]) -> str | None:
        text = "".join(files.get(word, "!") for word in words if word != "<")
        return None if "!" in text else text

    found = found_with(
        of_several, tmp_path, {f"{number}.json": f"[{number}]\n" for number in range(1, 5)}, own="a.json"
    )
    assert "count 1.json 2.json 3.json 4.json" in found.of("call")
    from_stdin = found_with(
        of_several, tmp_path, {"1.json": "[1]\n", "2.json": "[2]\n", "3.json": "[3]\n"}, own="a.json", form="count < {}"
    )
    assert not [line for line in from_stdin.of("call") if line.count(".json") > 1]
    spoilt = dict(zip(("1.json", "2.json", "3.json", "4.json", "5.json", "6.json"), "abc!ef", strict=True))
    assert "count 1.json 2.json 3.json" in found_with(of_several, tmp_path, spoilt, own="a.json").of("call")


def test_many_inputs_of_tests_are_tried_in_one_file_and_in_halves_if_that_fails(tmp_path: Path) -> None:
    def one_file(words: list[str], files: dict[str, str]) -> str | None:
        text = files.get(words[-1], "{")
        return None if "{" in text or len(words) > 1 else text[::-1]

    found = found_with(one_file, tmp_path, {"1.txt": "a\n", "2.txt": "b\n", "3.txt": "c\n", "4.txt": "d\n"})
    assert found.files["joined1.txt"] == "a\n\nb\n\nc\n\nd\n"
    assert "count joined1.txt" in found.of("call")
    given = {f"{number}.txt": f"{text}\n" for number, text in enumerate("abc{de", 1)}
    found = found_with(one_file, tmp_path, given)
    assert "count joined2.txt" in found.of("call")
    assert {"count joined1.txt", "count joined3.txt"}.isdisjoint(found.of("call"))


def test_inputs_that_are_too_long_for_one_file_are_joined_in_several_and_never_in_small_ones(tmp_path: Path) -> None:
    def counted(words: list[str], files: dict[str, str]) -> str | None:
        return f"{len(files[words[0]])} characters\n" if len(words) == 1 and words[0] in files else None

    long = {f"{number}.txt": f"{number}" * (LONGEST_JOINED // 4 - number) for number in range(1, 10)}
    files = found_with(counted, tmp_path, long).files
    joined = {name: text for name, text in files.items() if name.startswith("joined")}
    assert len(joined) == 2
    assert all(len(text) <= LONGEST_JOINED for text in joined.values())
    asked = list[str]()

    def refusing(words: list[str], files: dict[str, str]) -> str | None:
        asked.extend(files[word] for word in words if word.startswith("joined") and word in files)
        return None if words[0].startswith("joined") else counted(words, files)

    found_with(refusing, tmp_path, {f"{number}.txt": "x" * number for number in range(1, 33)})
    assert {text.count("\n") + 1 for text in asked} == {32, 16, 8, 4}


def test_what_makes_a_file_invalid_for_sure_is_not_joined(tmp_path: Path) -> None:
    def of_code(words: list[str], files: dict[str, str]) -> str | None:
        return f"{len(files[words[0]])} characters\n" if len(words) == 1 and words[0] in files else None

    cases = (("a.py", "a = 1\n"), ("b.py", "b = \n"), ("c.py", "cc = 3\n"), ("d.py", "ddd = 4\n"))
    prober = Prober(plans={"plan": (Try(ways=("count sample.py",)),)}, inputs=("sample.py",), cases=cases)
    session = FakeSession(of_code, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert found.files["joined1.py"] == "a = 1\n\ncc = 3\n\nddd = 4\n"
    assert [joins(".py", "a = "), joins(".html", "<p")] == [False, True]


def test_an_option_for_a_range_gets_two_numbers() -> None:
    part, *_ = of_help({"": "usage: count FILE\n\n  --line-range FROM TO  Only these\n"}, "count")
    (tried,) = with_option("count a.txt", "count", part, (part,))
    assert tried.ways[:2] == ("count --line-range 2 4 a.txt", "count --line-range 2-4 a.txt")


def test_values_that_docs_and_tests_give_an_option_are_those_of_it() -> None:
    part, *_ = of_help({"": "usage: count FILE\n\n  -j, --justify=SIDE  Where\n"}, "count")
    texts = [
        "`count -j right a.txt`, count --justify=left",
        "run(['count', '-j', 'center'])",
        "Count(justify='auto', j='x')",
    ]
    assert with_shown_values(part, texts).choices == ("right", "left", "center", "auto")
    assert with_shown_values(part, ["justify it, -j"]) == part
    assert with_shown_values(part, ["`count -j 'left right' a.txt`"]).choices == ("left right",)
    listed = """-j, --justify  the edge, e.g. --justify='["left","right"]'"""
    assert with_shown_values(part, ["-j right"], [listed]).choices == ('["left","right"]', "right")
    assert with_shown_values(part, [], ["-j edge"]).choices == ()
    assert with_shown_values(part.model_copy(update={"default": "80"}), texts).choices == ()


def test_options_are_tried_first_on_the_input_of_which_most_rows_change(tmp_path: Path) -> None:
    tried = list[str]()

    def quoting(words: list[str], files: dict[str, str]) -> str | None:
        text = files.get(words[-1])
        tried.extend(words[-1:] if "--raw" in words else ())
        return None if text is None else text.replace("'", '"' if "--raw" in words else "`")

    given = {f"{number}.txt": f"it is {number}'\nand '{number}'\n" for number in range(1, 5)}
    found = found_with(quoting, tmp_path, given, "usage: count [--raw] FILE\n\n  --raw  With quotes\n")
    assert tried[0] == "joined1.txt"
    assert "count --raw joined1.txt" in found.of("option")


def test_a_large_input_is_tried(tmp_path: Path) -> None:
    def of_any(words: list[str], files: dict[str, str]) -> str | None:
        return "many" if "long.txt;" in words else commas(words, files)

    found = found_with(of_any, tmp_path, {})
    assert [line for line in found.of("variation") if "> long.txt; count long.txt;" in line]


def test_an_option_for_the_input_gets_that_of_the_line(tmp_path: Path) -> None:
    page = "usage: count [options] [FILE]\n\nOptions:\n  -i, --input FILE   What is read\n"
    found = found_with(commas, tmp_path, {}, page)
    assert "count --input sample.txt" in found.of("option")


def test_an_option_is_tried_on_two_inputs_if_the_tool_takes_two(tmp_path: Path) -> None:
    def each(words: list[str], files: dict[str, str]) -> str | None:
        named = [word for word in words if not word.startswith("-")]
        found = [f"{word} {len(files[word])} {'--long' in words}" for word in named if word in files]
        return "\n".join(found) if len(found) == len(named) else None

    plans = {"plan": (Try(ways=("count a.txt",)),)}
    prober = Prober(plans=plans, parts=of_help({"": "options:\n  --long  All\n"}, "count"), inputs=("a.txt", "b.txt"))
    session = FakeSession(each, tmp_path)
    asyncio.run(prober.run(cast("Session", session)))
    found = read_found([one.text for one in session.events if isinstance(one, Message)])
    assert any("--long" in line and line.count(".txt") > 1 for line in found.of("option") + found.of("variation"))


def test_a_file_whose_whole_name_is_its_kind_gets_a_sample(tmp_path: Path) -> None:
    assert kinds_named_in(["It reads `.env` in the current folder."]) == [".env"]
    ((name, text),) = content_of(tmp_path, ".env", 0, ())
    assert (name, text.splitlines()[1]) == (".env", "NAME=Ada")


def test_a_file_of_a_kind_without_a_sample_is_one_of_the_repository_that_ends_alike(tmp_path: Path) -> None:
    (tmp_path / "Canon.JPG").write_bytes(b"\xff\xd8\xff")
    assert [*content_of(tmp_path, "a.jpg", 0, ("b.jpg", "Canon.JPG"))] == [("a.jpg", "\udcff\udcd8\udcff")]
