"""Attempts that use up the run before a failure is confirmed, or keep it from being seen as one."""

from __future__ import annotations

from tests.journeys.conftest import NOTES, SUITE
from tests.thorough.attempts.attempt import FILES, FORGETFUL, Attempt, agent, suite

BROKEN = NOTES.replace("  add)", "  append)")
VERSION = FILES["scenarios/version.yaml"]
CHANCE = "type: command, command: 'notes add first; notes add second'"
SLOW_PROMPT = VERSION.replace("task: Print the version.", "task: |\n  ```sh\n  notes --version\n  sleep 40\n  ```")
SLOW_GATE = "{type: command_succeeds, required: false, timeout_secs: 300, command: sleep 40}"
DESCRIBED = FILES["scenarios/keep.yaml"].replace("Two notes are kept.", "Two notes are still kept.")
PAID = "type: command, deterministic: true, output: events, command: 'sh {repo}/agent.sh'"
# Each character of the list costs one cent.
PAID_AGENT = """\
notes add first; notes add second; size=$(notes list | wc -c)
printf '{"type": "end", "end": "completed", "cost_usd": %d.%02d, "tokens_in": %d, "tokens_out": 0}\\n' \\
  $((size / 100)) $((size % 100)) "$size"
"""
LOUD = FORGETFUL.replace("list) [", "list) printf '%0400d\\n' 0; [")


def paid(budget: str) -> dict[str, str]:
    """Three scenarios, the second of which head breaks; their agent costs the more, the more the tool prints."""
    agent = suite(f"budget: {{{budget}}}\n", "{type: doc-follower}", f"{{{PAID}}}")
    return {**agent, "agent.sh": PAID_AGENT, "scenarios/a.yaml": VERSION.replace("name: version", "name: a")}


def dear(size: int, tool: str = NOTES) -> str:
    """The tool, which prints so many characters as `big`."""
    return tool.replace("  list)", f"  big) printf '%0{size}d' 0 ;;\n  list)")


FIRST = FILES["scenarios/version.yaml"].replace("name: version", "name: a").replace("Print the", "Print the big")
OF_BIG = 'notes $(grep -o big "$TIDEGATE_PROMPT_FILE" || echo list)'
SLOW = suite("budget: {minutes: 0.1}\n")

BUDGET = {
    "many new scenarios": Attempt(
        "adds scenarios that use up the trials of the budget",
        "regression",
        base=suite("budget: {trials: 8}\n"),
        head={
            **suite("budget: {trials: 8}\n"),
            **{f"scenarios/a{n}.yaml": VERSION.replace("name: version", f"name: a{n}") for n in range(12)},
        },
    ),
    "many trials": Attempt(
        "asks for many trials of another scenario, which use up the budget",
        "unproven",
        5,
        base=suite("budget: {trials: 8}\n", "{type: doc-follower}", "{" + CHANCE + "}"),
        head={"scenarios/version.yaml": VERSION + "trials: {min: 50}\n"},
    ),
    "slow new agent": Attempt(
        "adds an agent that uses up the time of the budget",
        "regression",
        base=SLOW,
        head={
            "tidegate.yaml": SUITE.replace("agents:", "agents:\n  a: {type: command, command: sleep 100}")
            + "budget: {minutes: 0.1}\n"
        },
    ),
    "build that hangs": Attempt(
        "has its build hang until the budget ends",
        "infrastructure",
        4,
        base=SLOW,
        tool=NOTES + "# x\n",
        head=suite("budget: {minutes: 0.1}\nbuild: [sleep 100]\n"),
    ),
    # 18 s end within 8 s of build and two setups of 5.5 s; without the build, all trials have 7 s besides the setups.
    "slow build": Attempt(
        "has its build take so long that the budget ends before the broken scenario is tried",
        "unproven",
        5,
        base={
            **suite("budget: {minutes: 0.3}\n"),
            "scenarios/a.yaml": VERSION.replace("name: version", "name: a"),
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"] + "setup: {commands: [sleep 5.5]}\n",
        },
        head=suite("budget: {minutes: 0.3}\nbuild: [sleep 8]\n"),
        arguments=("--jobs", "1"),
    ),
    "prompt that sleeps": Attempt(
        "has the prompt of another scenario wait until the budget ends",
        "regression",
        base={**SLOW, "scenarios/a.yaml": VERSION.replace("name: version", "name: a")},
        head={"scenarios/a.yaml": SLOW_PROMPT.replace("name: version", "name: a")},
        arguments=("--jobs", "1"),
    ),
    "prompts that sleep": Attempt(
        "changes the broken scenario's description, and has another prompt wait until the budget ends",
        "regression",
        base={**SLOW, "scenarios/a.yaml": VERSION.replace("name: version", "name: a")},
        head={"scenarios/a.yaml": SLOW_PROMPT.replace("name: version", "name: a"), "scenarios/keep.yaml": DESCRIBED},
        arguments=("--jobs", "1"),
    ),
    "gate that sleeps": Attempt(
        "changes the broken scenario's description, and adds a gate to another that waits until the budget ends",
        "regression",
        base={**SLOW, "scenarios/a.yaml": VERSION.replace("name: version", "name: a")},
        head={
            "scenarios/a.yaml": VERSION.replace("name: version", "name: a").replace("}]}", f"}}, {SLOW_GATE}]}}"),
            "scenarios/keep.yaml": DESCRIBED,
        },
        arguments=("--jobs", "1"),
    ),
    "setup that hangs": Attempt(
        "has the tool hang in the setup until the budget ends",
        "unproven",
        5,
        base={
            **suite("budget: {minutes: 0.2}\n"),
            "scenarios/keep.yaml": FILES["scenarios/keep.yaml"] + "setup: {commands: [notes count]}\n",
            "bin/notes": NOTES.replace("wc -l < notes.txt", "true"),
        },
        tool=NOTES.replace("wc -l < notes.txt", "sleep 100"),
    ),
    "expensive output": Attempt(
        "has the tool print so much that its agent uses up the money before the broken scenario is tried",
        "unproven",
        5,
        base=paid("usd: 1.0"),
        tool=LOUD,
        arguments=("--jobs", "1"),
    ),
    "much output": Attempt(
        "has the tool print so much that its agent uses up the tokens before the broken scenario is tried",
        "unproven",
        5,
        base=paid("tokens: 100"),
        tool=LOUD,
        arguments=("--jobs", "1"),
    ),
    "tokens that added trials ask for": Attempt(
        "has the tool print so much, and adds a scenario with so many trials that base would use up the tokens, too",
        "unproven",
        5,
        base=paid("tokens: 100"),
        head={f"scenarios/z{n}.yaml": VERSION.replace("name: version", f"name: z{n}") for n in range(20)},
        tool=LOUD,
        arguments=("--jobs", "1"),
    ),
    "dear first scenario": Attempt(
        "has the tool print more where base prints most, so that the tokens end before cheap scenarios are tried",
        "unproven",
        5,
        base={
            **paid("tokens: 1500"),
            **{f"scenarios/m{n}.yaml": VERSION.replace("name: version", f"name: m{n}") for n in range(8)},
            "scenarios/a.yaml": FIRST,
            "bin/notes": dear(200),
            "agent.sh": PAID_AGENT.replace("notes list", OF_BIG),
        },
        tool=dear(5000, FORGETFUL),
        arguments=("--jobs", "1"),
    ),
    "agent by chance": Attempt(
        "breaks the tool where the agent is not deterministic", "regression", base=agent(CHANCE), tool=BROKEN
    ),
    "few trials": Attempt(
        "breaks the tool where there are too few trials to confirm it",
        "unproven",
        5,
        base=suite("trials: {max: 3}\n", "{type: doc-follower}", "{" + CHANCE + "}"),
        tool=BROKEN,
    ),
    "small budget": Attempt(
        "breaks the tool where the budget ends before it is confirmed",
        "unproven",
        5,
        base=suite("budget: {trials: 13}\n", "{type: doc-follower}", "{" + CHANCE + "}"),
        tool=BROKEN,
    ),
}
