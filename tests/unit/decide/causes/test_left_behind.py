from __future__ import annotations

from tidegate.decide.causes.left_behind import files_apart as apart
from tidegate.reports.cause_text import left as shown


def files_apart(base: list[str], head: str) -> str:
    return shown(apart(base, head))


def left(**files: str) -> str:
    """The diff of a workspace in which an agent wrote these files."""
    return "".join(
        f"diff --git a/{name}.csv b/{name}.csv\nnew file mode 100644\n--- /dev/null\n+++ b/{name}.csv\n"
        f"@@ -0,0 +1,{len(text.splitlines())} @@\n" + "".join(f"+{line}\n" for line in text.splitlines())
        for name, text in files.items()
    )


def test_lines_that_differ_are_a_diff_of_the_file() -> None:
    found = files_apart([left(out="id,title\n1,first")], left(out="number,title\n1,first"))
    assert found.splitlines() == ["  out.csv:", "-id,title", "+number,title", " 1,first"]


def test_a_file_that_only_one_side_has_is_shown() -> None:
    assert files_apart([left(out="a")], "") == "  out.csv:\n-a"
    assert files_apart([left()], left(out="a")) == "  out.csv:\n+a"


def test_the_same_files_and_those_that_vary_on_base_are_left_out() -> None:
    assert files_apart([left(out="a"), left(out="a")], left(out="a")) == ""
    assert files_apart([left(log="10:00"), left(log="10:01")], left(log="10:02")) == ""
    assert files_apart([], left(out="a")) == "", "nothing is known of base"


def test_a_line_that_looks_like_a_header_is_content() -> None:
    assert "+x" in files_apart([left(out="++ b/a")], left(out="++ b/a\nx"))


def test_a_file_with_the_same_lines_under_another_name_is_left_out() -> None:
    assert files_apart([left(tmpa8x="a")], left(tmpq31="a")) == ""
    assert "tmpq31" in files_apart([left(tmpa8x="a")], left(tmpq31="b"))
