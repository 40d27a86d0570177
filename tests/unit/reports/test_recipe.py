from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.model.cause import Fix
from tidegate.model.result import Result
from tidegate.model.revision import Links
from tidegate.reports.for_agent import for_agent
from tidegate.reports.links import recipe


def test_a_head_without_a_branch_is_checked_out_by_its_commit(stories: Mapping[str, Callable[[], Result]]) -> None:
    """`git switch HEAD` would fail, and a merge group has no branch later on."""
    result = stories["one_regression"]().model_copy(update={"links": Links()})
    sha = result.sides.head.sha

    def first_line(ref: str) -> str:
        head = result.sides.head.model_copy(update={"ref": ref})
        named = result.model_copy(update={"sides": result.sides.model_copy(update={"head": head})})
        return recipe(named, result.rows[:1]).splitlines()[0]

    assert first_line("rename-prio-flag") == "git switch rename-prio-flag"
    assert first_line("HEAD") == f"git switch --detach {sha}"
    assert first_line("merge queue") == f"git fetch origin {sha} && git switch --detach {sha}"


def test_the_base_of_the_run_is_named(stories: Mapping[str, Callable[[], Result]]) -> None:
    """Without it, `tidegate pr` takes origin's default branch, which may have no suite yet."""
    result = stories["one_regression"]()
    local = result.model_copy(update={"links": Links()})
    found = next(row for row in result.rows if row.state == "regressed")
    row = "--scenario add_high_priority --agent docs"
    assert recipe(local, [found]).splitlines() == [
        "git switch rename-prio-flag",
        f"tidegate pr --base main {row}",
    ]
    assert recipe(result, [found]).splitlines()[1:] == [
        "gh pr checkout 7",
        f"tidegate pr --base origin/main {row}",
    ]


def test_an_agent_verifies_every_row(stories: Mapping[str, Callable[[], Result]]) -> None:
    result = stories["many_rows"]().model_copy(update={"links": Links()})
    regressed = [row for row in result.rows if row.state == "regressed"]
    assert len(regressed) > 1
    two = [row.model_copy(update={"state": "regressed"}) for row in regressed[:2]]
    names = " ".join(f"--scenario {name}" for name in dict.fromkeys(row.scenario for row in two))
    agents = " ".join(f"--agent {name}" for name in dict.fromkeys(row.agent for row in two))
    text = for_agent(result.model_copy(update={"rows": tuple(two)}))
    assert text.endswith(f"(exit code 0):\ntidegate pr --base {result.sides.base.ref} {names} {agents}")


def test_too_many_rows_are_verified_with_the_whole_suite(stories: Mapping[str, Callable[[], Result]]) -> None:
    result = stories["one_regression"]().model_copy(update={"links": Links()})
    rows = [result.rows[0].model_copy(update={"scenario": f"s{number}"}) for number in range(21)]
    assert recipe(result, rows, checkout=False) == "tidegate pr --base main"


def test_a_patch_for_an_agent_is_whole_or_only_named(stories: Mapping[str, Callable[[], Result]]) -> None:
    """With lines left out, git calls it corrupt."""
    result = stories["one_regression"]()
    edits = "".join(f"-$ tool add --tag {number}\n+$ tool add --label {number}\n" for number in range(100))
    diff = f"--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,101 +1,101 @@\n{edits} \n"

    def lines(diff: str) -> list[str]:
        fix = Fix(diff=diff, trials=1, rows=(result.rows[0].key,))
        return for_agent(result.model_copy(update={"fix": fix})).splitlines()

    quoted = [f"| {line}" for line in diff.splitlines()]
    whole = lines(diff)
    assert whole[whole.index(quoted[0]) :][: len(quoted)] == quoted
    for large in (diff + edits, diff + f"+{'x' * 400}\n"):
        assert quoted[0] not in lines(large)
        assert any("`fix.patch`" in line for line in lines(large))
