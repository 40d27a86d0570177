"""A suite is proved: what its rows catch on mutants of a real tool, what no row uses, and what stays the same."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tidegate.authoring.drafts import drafts_for
from tidegate.lab.prove import Wanted, partial, prove
from tidegate.model.progress import Progress
from tidegate.model.proof import MutantResult, Proof
from tidegate.reports.prove_text import prove_text
from tidegate.run.run_job import Options
from tidegate.run.surface_survey import MOST_AT_ONCE
from tidegate.suite.plan import Selection

TOOL = """\
#!/bin/sh
case "$1 $2" in
  "--help "*) printf 'Usage: t COMMAND\\n\\nCommands:\\n  add    Adds\\n  show   Shows\\n  wipe   Deletes all\\n';;
  "add --help") printf 'Usage: t add [--loud] [--due DATE] TEXT\\n\\nOptions:\\n  --loud      x\\n  --due DATE  x\\n';;
  "show --help") printf 'Usage: t show [--format {text}]\\n\\nOptions:\\n  --format {text}  x\\n';;
  "add --due") echo "$4 by $3" >> notes; echo "added $4";;
  "add --loud") echo "$3!" >> notes; echo "added $3";;
  "add "*) echo "$2" >> notes; echo "added $2";;
  "show "*) cat notes;;
  *) echo "what?" >&2; exit 2;;
esac
"""
SUITE = """\
version: 1
scenarios: [s.yaml]
path: [bin]
agents: {docs: {type: doc-follower}}
"""
SCENARIO = """\
name: keep
description: Keep a note.
target: {binary: t}
task: "Keep a note:\\n\\n```console\\n$ t add --loud tide\\n$ t show --format text\\n```\\n"
evaluation:
  gates:
    - {type: file_contains, path: notes, substring: "tide!"}
"""
KINDS = ("option_ignored", "subcommand_removed", "effect_lost", "output_emptied", "flag_misspelt")


def commit(repo: Path) -> None:
    """Make a repository of the folder."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repo)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a tool and a suite; no test changes it."""
    repo = tmp_path_factory.mktemp("repo")
    (repo / "bin").mkdir()
    for name, text in {"bin/t": TOOL, "tidegate.yaml": SUITE, "s.yaml": SCENARIO}.items():
        (repo / name).write_text(text)
    (repo / "bin/t").chmod(0o755)
    (repo / "AGENTS.md").write_text("# Notes\n\n```sh\nt add --loud twice\n```\n")
    commit(repo)
    return repo


@pytest.fixture(scope="module")
def proof(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """What is found about the suite; no test changes it."""
    options = Options(environ=dict(os.environ), progress=Progress())
    wanted = Wanted(kinds=KINDS, drafter=drafts_for)
    return asyncio.run(prove(repo, None, tmp_path_factory.mktemp("out") / "run", options, wanted))


def state(proof: Proof, words: str) -> MutantResult:
    return next(one for one in proof.mutants if one.mutant.words == words)


def test_a_break_of_what_a_gate_checks_is_caught(proof: Proof) -> None:
    for words in ("`--loud` is ignored by `add`", "`add` is gone", "`add` reports success and changes nothing"):
        assert (state(proof, words).state, state(proof, words).caught_by) == ("caught", ("keep",)), words


def test_a_break_that_no_gate_looks_at_is_alive(proof: Proof) -> None:
    found = state(proof, "`show` prints nothing")
    assert (found.state, found.why) == ("alive", "keep meets it, and passes")


def test_what_no_call_meets_is_not_run(proof: Proof) -> None:
    for words in ("`wipe` is gone", "`--due` is ignored by `add`"):
        assert state(proof, words).state == "not_reached", words
    assert state(proof, "`wipe` is gone").why == "no scenario uses `wipe`"


def test_an_option_with_one_choice_changes_nothing_if_it_is_ignored(proof: Proof) -> None:
    assert state(proof, "`--format` is ignored by `show`").state == "no_change"


def test_a_misspelt_option_in_the_guidance_is_met_by_the_agent_that_reads_it(proof: Proof) -> None:
    assert state(proof, "AGENTS.md: `--loud` is misspelt").met_by == ("keep",)


def test_a_run_that_leaves_out_mutants_or_scenarios_is_partial() -> None:
    everything, used_up = Selection(), "the run's $5 were used up"
    assert partial(Wanted(drafter=drafts_for), everything, None) == ""
    assert partial(Wanted(most_mutants=3), everything, used_up) == f"a sample of the mutants, {used_up}"
    for one in ({"scenarios": ("s",)}, {"tags": ("a",)}, {"tier": 0}):
        assert partial(Wanted(), Selection.model_validate(one), None) == "only some scenarios", one
    assert partial(Wanted(), Selection(agents=("claude",)), None) == "only some agents"


def test_the_surface_and_the_score_are_printed(proof: Proof) -> None:
    text = prove_text(proof)
    assert "surface: 2 of 3 subcommands, 2 of 3 options used by 1 passing scenario\n" in text
    assert "unused `wipe`" in text
    assert "unused `--due` of `add`" in text
    assert proof.share is not None


def test_a_draft_for_what_a_scenario_meets_is_a_gate(proof: Proof) -> None:
    (gate,) = proof.tools[0].drafts
    assert (gate.catches, gate.file, gate.into) == ("`show` is gone", "s.yaml", "gates")
    assert gate.text.startswith("    - {type: command_output_contains, command: t show --format text, substring: tide!")


def test_a_sample_is_of_all_mutants_so_that_its_share_estimates_the_whole(repo: Path, tmp_path: Path) -> None:
    """If all mutants that no call meets counted beside a sample of the others, the share would be too low."""
    options = Options(environ=dict(os.environ), progress=Progress())
    wanted = Wanted(kinds=("option_ignored", "subcommand_removed"), most_mutants=2)
    found = asyncio.run(prove(repo, None, tmp_path / "run", options, wanted))
    assert (len(found.mutants), found.count("not_run")) == (6, 4)


class Lines(Progress):
    """Progress that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


def test_the_help_of_many_subcommands_is_read_in_parts_and_progress_is_shown(repo: Path, tmp_path: Path) -> None:
    """`--surface` runs each scenario that repeats itself once."""
    own = shutil.copytree(repo, tmp_path / "own", ignore=shutil.ignore_patterns(".tidegate", ".git"))
    many = [f"sub{number}" for number in range(MOST_AT_ONCE * 2 + 1)]
    listed = "".join(f"  {name}  Does\\n" for name in many)
    page = 'printf "Usage: t $1\\n\\nOptions:\\n  --of-$1 X  what\\n"'
    help_text = f"printf 'Usage: t COMMAND\\n\\nCommands:\\n{listed}'"
    (own / "bin/t").write_text(
        f'#!/bin/sh\ncase "$1" in --help) {help_text};; sub*) {page};; *) echo tide! > notes;; esac\n'
    )
    commit(own)
    lines = Lines()
    options = Options(environ=dict(os.environ), progress=lines, jobs=2)
    found = asyncio.run(prove(own, None, tmp_path / "run", options, Wanted(mutants=False)))
    names = {one.part.name for one in found.tools[0].parts if one.part.kind == "option"}
    assert names == {f"--of-{name}" for name in many}
    told = [line for line in lines.said if "help texts of subcommands of t read" in line]
    assert len(told) > 1
    assert told[-1] == f"{len(many)} of {len(many)} help texts of subcommands of t read"
    assert found.trials == 1 + 1 + len(told)


READS_HELP = """\
name: read
description: Read the help.
target: {binary: t}
task: "Read it:\\n\\n```console\\n$ t add --help\\n```\\n"
evaluation:
  gates:
    - {type: command_output_contains, command: t add --help, substring: "--loud"}
"""


def test_a_mutant_that_does_to_all_calls_what_another_did_is_not_run(repo: Path, tmp_path: Path) -> None:
    """Where only the help is read, an option that is gone is like one that the help no longer lists."""
    own = shutil.copytree(repo, tmp_path / "own", ignore=shutil.ignore_patterns(".tidegate", ".git", "AGENTS.md"))
    (own / "s.yaml").write_text(READS_HELP)
    commit(own)
    options = Options(environ=dict(os.environ), progress=Progress())
    wanted = Wanted(kinds=("option_removed", "help_dropped"))
    found = asyncio.run(prove(own, None, tmp_path / "run", options, wanted))
    states = {(one.mutant.name, one.mutant.kind): (one.state, one.caught_by) for one in found.mutants}
    assert states["--loud", "help_dropped"] == states["--loud", "option_removed"] == ("caught", ("read",))
    assert states["--due", "help_dropped"] == states["--due", "option_removed"] == ("alive", ())
    base, help_pages, caught, alive = 2, 2, 3, 1
    assert found.trials == base + help_pages + caught + alive


def test_a_tool_whose_scenarios_all_fail_has_a_surface_and_no_share(repo: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(repo, tmp_path / "broken", ignore=shutil.ignore_patterns(".git", ".tidegate"))
    commit(broken)
    broken.joinpath("bin/t").write_text(TOOL.replace("--loud", "--shout"))
    options = Options(environ=dict(os.environ), progress=Progress())
    found = asyncio.run(prove(broken, None, tmp_path / "run", options, Wanted()))
    assert found.share is None
    assert "surface: 0 of 3 subcommands, 0 of 3 options used by 0 passing scenarios" in prove_text(found)
    assert found.notes[0].startswith("keep × docs was left out: it does not pass in the working tree (")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(broken)]
    subprocess.run([*git, "commit", "-qam", "shout"], check=True)
    at_head = asyncio.run(prove(broken, "HEAD", tmp_path / "again", options, Wanted(mutants=False)))
    assert at_head.notes[0].startswith("keep × docs was left out: it does not pass at HEAD (")


def test_scenarios_without_a_tool_have_nothing_to_change(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(Path(__file__).parents[3] / "examples" / "screening", repo)
    commit(repo)
    options = Options(environ=dict(os.environ), progress=Progress())
    found = asyncio.run(prove(repo, None, tmp_path / "out", options, Wanted()))
    assert (found.mutants, found.share) == ((), None)
    assert "scenarios without a tool under test: nothing is known that could be changed" in prove_text(found)
