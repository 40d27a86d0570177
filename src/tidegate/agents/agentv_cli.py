"""The `cli` provider of AgentV's targets.yaml as an agent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Literal

from tidegate.model.agent import Agent, Session
from tidegate.model.event import End
from tidegate.model.value import Value
from tidegate.streams import agentv

OUTPUT_FILE = ".agentv-output"  # in the workspace, which is the trial's own
PLACEHOLDERS = ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE")
_PLACEHOLDER = re.compile(r"\{([A-Z_]+)\}")


class CliCase(Value):
    """What the template's placeholders stand for in one case; files are relative to the checkout's root."""

    eval_id: str
    question: str
    guidelines: str = ""
    files: tuple[str, ...] = ()


class AgentVCli(Agent):
    """Runs `command_template` in `folder` of the side's checkout. Each placeholder is shell-quoted."""

    type: Literal["agentv-cli"] = "agentv-cli"
    command_template: str
    files_format: str = "{path}"
    folder: str = "."
    cases: dict[str, CliCase] = {}

    async def run(self, session: Session) -> End:
        """Run the command, and read what it wrote to {OUTPUT_FILE}, or else printed."""
        case = self.cases.get(session.scenario) or CliCase(eval_id=session.scenario, question=session.prompt)
        values = {
            "PROMPT": shlex.quote(case.question),
            "GUIDELINES": shlex.quote(case.guidelines),
            "EVAL_ID": shlex.quote(case.eval_id),
            "ATTEMPT": session.trial_id.rpartition("/")[2],
            "FILES": " ".join(self._file(str(session.repo / file)) for file in case.files),
            "OUTPUT_FILE": shlex.quote(str(session.workspace / OUTPUT_FILE)),
        }
        folder = shlex.quote(str(session.repo / self.folder))
        result = await session.program(f"cd {folder} && {filled(self.command_template, values)}")
        output = session.read_text(OUTPUT_FILE)
        output = result.stdout if output is None else output
        for event in agentv.parse(output):
            session.emit(event)
        message = "" if result.ok else f"{result.how_it_ended()}: {result.stderr.strip()[-200:]}"
        return End(end="completed" if result.ok else "crashed", message=message, traced=agentv.is_traced(output))

    def _file(self, path: str) -> str:
        quoted = {"{path}": shlex.quote(path), "{basename}": shlex.quote(path.rpartition("/")[2])}
        return re.sub(r"\{path\}|\{basename\}", lambda found: quoted[found.group()], self.files_format)


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with every placeholder replaced."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found.group()), template)


def unknown_placeholder(template: str) -> str | None:
    """The first placeholder of a template that there is not."""
    return next((name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDERS), None)
