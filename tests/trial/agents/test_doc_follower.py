from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidegate.agents.doc_follower import MAX_CHARACTERS, MAX_LINES, DocFollower

if TYPE_CHECKING:
    from tests.trial.agents.conftest import LocalSession

DOCS = DocFollower(type="doc-follower")


def sh(*lines: str) -> str:
    return "\n".join(["```sh", *lines, "```", ""])


def test_reads_prompt_then_guidance_then_readme(session: LocalSession) -> None:
    session.prompt = "Add a task:\n\n" + sh("taskmgr add prompt")
    session.guidance = (".claude/skills/x/data.txt", ".claude/skills/x/SKILL.md", "AGENTS.md")
    (session.workspace / ".claude/skills/x").mkdir(parents=True)
    session.write(".claude/skills/x/data.txt", sh("taskmgr add never"))
    session.write(".claude/skills/x/SKILL.md", sh("taskmgr add skill"))
    session.write("AGENTS.md", "No commands here.\n")
    session.write("README.md", sh("taskmgr add readme"))
    end = session.run(DOCS)
    assert session.calls == ["add prompt", "add skill", "add readme"]
    assert session.messages == [
        "Following the prompt. Commands: 1.",
        "Following .claude/skills/x/SKILL.md. Commands: 1.",
        "Following README.md. Commands: 1.",
    ]
    assert (end.end, end.message) == ("completed", "ran 3 lines, 0 failed, 0 skipped")


def test_a_realistic_guide_is_followed_to_the_letter(session: LocalSession) -> None:
    session.write(
        "AGENTS.md",
        """\
# Working with tasks

Install first (not part of the task):

```sh
pip install taskmgr-that-does-not-exist
```

1. Add tasks. Quote titles:

   ```bash
   # one at a time
   taskmgr add "buy milk" \\
     > last-id.txt
   taskmgr add walk && taskmgr list | head -1
   ```

2. Or import them:

   ~~~
   cat > more.txt <<'EOF'
   it's <b> task
   EOF
   taskmgr import < more.txt
   for t in x y; do
     taskmgr add "$t"
   done
   ~~~

3. A session:

```console
$ taskmgr list
buy milk
walk
$ taskmgr add last
6
```

```python
taskmgr("add", "never")
```

Finish with `taskmgr nonsense`, or:

```sh
taskmgr done <id>
taskmgr list
```
""",
    )
    end = session.run(DOCS)
    assert session.calls == [
        *("add buy milk", "add walk", "list", "import", "add x", "add y", "list", "add last"),
    ]
    assert (session.workspace / "tasks.txt").read_text().splitlines() == [
        *("buy milk", "walk", "it's <b> task", "x", "y", "last")
    ]
    assert session.warnings == ["AGENTS.md, line 47 was skipped, it holds a placeholder: taskmgr done <id>"]
    assert end.message == "ran 7 lines, 0 failed, 1 skipped"


def test_a_failing_call_reads_the_help_and_is_tried_once_more(session: LocalSession) -> None:
    session.write("README.md", sh("taskmgr create 'a b' --now", "taskmgr add ok", "taskmgr --frobnicate"))
    end = session.run(DOCS)
    assert session.commands == [
        "taskmgr create 'a b' --now",
        "taskmgr create --help",
        "taskmgr create 'a b' --now",
        "taskmgr add ok",
        "taskmgr --frobnicate",
        "taskmgr --help",
        "taskmgr --frobnicate",
    ]
    assert (end.end, end.message) == ("completed", "ran 3 lines, 2 failed, 0 skipped")


def test_a_second_try_that_works_is_no_failure(session: LocalSession) -> None:
    session.write("README.md", sh("mkdir once && taskmgr list || { taskmgr list; rmdir once; false; }"))
    session.write("AGENTS.md", sh("test -f flag && taskmgr list || { touch flag; taskmgr nonsense; }"))
    end = session.run(DOCS)
    assert end.message == "ran 2 lines, 0 failed, 0 skipped"
    assert len(session.commands) == 4


def test_a_folder_and_variables_hold_until_the_end_of_their_block(session: LocalSession) -> None:
    session.write(
        "README.md",
        sh("mkdir demo && cd demo", "export TASKMGR_HOME=here", "taskmgr where") + "\n" + sh("taskmgr where"),
    )
    session.run(DOCS)
    outputs = [event.output.splitlines() for event in session.events if event.type == "tool_result"]
    assert outputs[-2:] == [[str(session.workspace / "demo"), "here"], [str(session.workspace), ""]]
    assert session.commands[-2:] == ["cd demo && export TASKMGR_HOME=here && taskmgr where", "taskmgr where"]


@pytest.mark.parametrize(
    ("document", "calls", "summary"),
    [
        pytest.param(
            sh("false", "taskmgr list"), ["list"], "ran 2 lines, 1 failed, 0 skipped", id="another line fails"
        ),
        pytest.param(
            sh("taskmgr list; taskmgr create x"),
            ["list", "create x", "create --help", "list", "create x"],
            "ran 1 lines, 1 failed, 0 skipped",
            id="the help is that of the last call",
        ),
        pytest.param(
            sh("taskmgr list", "taskmgr add b", "taskmgr list") + sh("taskmgr add b"),
            ["list", "add b"],
            "ran 2 lines, 0 failed, 0 skipped",
            id="identical lines run once",
        ),
        pytest.param(
            "\n".join(sh(f"mkdir {x}; cd {x}", "taskmgr add x") for x in "ab"),
            ["add x", "add x"],
            "ran 4 lines, 0 failed, 0 skipped",
            id="the same line in another folder is another one",
        ),
        pytest.param(
            sh("ID=$(taskmgr add a)  # the new id", 'taskmgr done "$ID"', 'taskmgr list "$ID"'),
            ["add a", "done 1", "list 1"],
            "ran 3 lines, 0 failed, 0 skipped",
            id="an answer is kept in its variable without a second call",
        ),
        pytest.param(
            sh("ID=$(taskmgr add)", 'taskmgr list "$ID"'),
            ["add", "add --help", "add", "list "],
            "ran 2 lines, 1 failed, 0 skipped",
            id="a variable whose call failed is not set",
        ),
        pytest.param(
            "Do this:\n\n    taskmgr add readme\n",
            [],
            "found no instruction that calls taskmgr",
            id="indented code without prompts counts in the prompt alone",
        ),
        pytest.param(sh("pip install x"), [], "found no instruction that calls taskmgr", id="no instructions"),
    ],
)
def test_what_is_run_of_a_readme(document: str, calls: list[str], summary: str, session: LocalSession) -> None:
    session.write("README.md", document)
    end = session.run(DOCS)
    assert (session.calls, end.end, end.message) == (calls, "completed", summary)


def test_a_change_that_failed_does_not_hold(session: LocalSession) -> None:
    session.write("README.md", sh("cd missing", "taskmgr list"))
    session.run(DOCS)
    assert session.commands == ["cd missing", "taskmgr list"]


def test_indented_code_of_the_prompt_counts(session: LocalSession) -> None:
    session.prompt = "Do this:\n\n    taskmgr add prompt\n"
    session.run(DOCS)
    assert session.calls == ["add prompt"]


def test_a_line_that_is_no_shell_is_skipped_with_its_number(session: LocalSession) -> None:
    session.write("README.md", "Usage:\n\n" + sh("taskmgr list", "taskmgr add )"))
    end = session.run(DOCS)
    assert session.calls == ["list"]
    assert session.warnings[0].startswith("README.md, line 5 was skipped, it is not a complete shell command")
    assert end.message == "ran 1 lines, 0 failed, 1 skipped"


def test_it_stops_after_the_limit_and_counts_the_rest(session: LocalSession) -> None:
    session.write("README.md", sh(*(f"taskmgr list {number}" for number in range(300))))
    end = session.run(DOCS)
    assert len(session.calls) == MAX_LINES == 200
    assert session.calls[-1] == "list 199"
    assert session.warnings == ["the limit of 200 lines is reached; no more of them are run"]
    assert end.message == "ran 200 lines, 0 failed, 100 skipped"


def test_each_document_has_its_own_limit(session: LocalSession) -> None:
    """So that no guide of a pull request leaves base's README out."""
    session.write("AGENTS.md", sh(*(f"taskmgr list {number}" for number in range(300))))
    session.write("README.md", sh("taskmgr add readme"))
    session.run(DOCS)
    assert session.calls[-1] == "add readme"


def test_a_file_that_an_earlier_call_had_to_write_is_not_just_missing(session: LocalSession) -> None:
    session.write("README.md", sh("taskmgr import first.csv", "taskmgr list", "taskmgr import < export.csv"))
    assert session.run(DOCS).message == "ran 2 lines, 1 failed, 1 skipped"


def test_what_a_call_writes_over_a_document_is_not_followed(session: LocalSession) -> None:
    session.write("AGENTS.md", sh("taskmgr list > README.md"))
    session.write("README.md", sh("taskmgr add readme"))
    session.run(DOCS)
    assert session.calls == ["list", "add readme"]


def test_skipped_lines_count_towards_the_limit(session: LocalSession) -> None:
    """So that a document made of placeholders cannot fill the record."""
    session.write("README.md", sh(*(f"taskmgr list <x> {number}" for number in range(300)), "taskmgr list"))
    end = session.run(DOCS)
    assert session.calls == []
    assert len(session.warnings) == MAX_LINES + 1
    assert end.message == "ran 0 lines, 0 failed, 301 skipped"


def test_a_huge_document_is_cut_and_said(session: LocalSession) -> None:
    session.write("README.md", sh("taskmgr list") + "x" * MAX_CHARACTERS)
    session.run(DOCS)
    assert session.calls == ["list"]
    assert session.warnings == ["only the first 200000 characters of README.md were read"]


@pytest.mark.parametrize(("stated", "expected"), [(None, True), (True, True), (False, False)])
def test_deterministic_unless_stated_otherwise(stated: bool | None, expected: bool) -> None:
    assert DocFollower(type="doc-follower", deterministic=stated).is_deterministic is expected


def test_a_synopsis_is_counted_and_never_turned_into_a_call_of_help(session: LocalSession) -> None:
    session.write("README.md", sh("taskmgr [OPTIONS] COMMAND", "taskmgr append NR 'text'", "taskmgr list"))
    end = session.run(DOCS)
    assert session.calls == ["list"]
    assert end.message == "ran 1 lines, 0 failed, 2 skipped"
    assert session.warnings[1] == "README.md, line 3 was skipped, `NR` stands for a value: taskmgr append NR 'text'"


def test_the_prompt_may_name_anything_but_placeholders(session: LocalSession) -> None:
    session.prompt = sh("true /etc/hosts", "taskmgr add MILK", "taskmgr list [ab]", "taskmgr done <id>")
    end = session.run(DOCS)
    assert session.calls == ["add MILK", "list [ab]"]
    assert end.message == "ran 3 lines, 0 failed, 1 skipped"


FOREIGN = sh("taskmgr add a", "install-something", "taskmgr list") + sh("sed p /etc/hosts | taskmgr import")


def test_a_block_that_is_not_about_the_tool_alone_is_not_run(session: LocalSession) -> None:
    session.write("README.md", FOREIGN)
    end = session.run(DOCS)
    assert session.calls == []
    assert [warning.partition(": ")[0] for warning in session.warnings] == [
        "README.md, line 2 was skipped, its block also needs `install-something`",
        "README.md, line 3 was skipped, it does not call taskmgr",
        "README.md, line 4 was skipped, line 3 before it was skipped",
        "README.md, line 7 was skipped, it reads /etc/hosts, outside of the workspace",
    ]
    assert end.message == "ran 0 lines, 0 failed, 4 skipped"


def test_run_all_runs_them(session: LocalSession) -> None:
    session.write("README.md", FOREIGN)
    session.run(DocFollower(type="doc-follower", run_all=True))
    assert session.calls == ["add a", "list", "import"]


def test_commands_that_are_known_to_fail_are_not_run(session: LocalSession) -> None:
    session.write("README.md", sh("taskmgr add a", "cd .", "taskmgr list", "taskmgr import"))
    end = session.run(DocFollower(type="doc-follower", skip=("cd . && taskmgr list", "cd . && taskmgr import")))
    assert session.calls == ["add a"]
    assert end.message == "ran 2 lines, 0 failed, 2 skipped"


def test_indented_lines_of_documents_are_run_if_asked_for(session: LocalSession) -> None:
    session.write("README.md", "Use it:\n\n    taskmgr add a\n")
    session.run(DOCS)
    assert session.calls == []
    session.run(DocFollower(type="doc-follower", indented=True))
    assert session.calls == ["add a"]
