"""The scripts in front of the tool under test: they record each call and make the mutant's change."""

from __future__ import annotations
import __future__

import json
import marshal
import re
import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from tidegate.model.mutant import Mutant
from tidegate.model.surface import ObservedCall
from tidegate.mutants import change, outputs
from tidegate.trial import mutant_wrapper, recorder
from tidegate.trial.mcp import answer_status, mutant_proxy

MOST_RECORDED_CALLS = 5_000
TOOL_LIST = "tools/list"


class Front(NamedTuple):
    """The folder to put first on PATH, or the command that starts the MCP server; and where calls are recorded."""

    path: tuple[str, ...]
    command: str
    spool: Path

    def calls(self, home: str = "") -> tuple[ObservedCall, ...]:
        """Return what was recorded, in order; of one trial, if its HOME is given."""
        found = []
        for file in sorted(self.spool.glob("*.json"))[:MOST_RECORDED_CALLS]:
            try:
                call = ObservedCall.model_validate_json(file.read_bytes())
            except (OSError, ValidationError):
                continue  # the trial's user may write anything there
            if not home or call.home == home:
                found.append(call)
        return tuple(found)


def in_front_of_program(folder: Path, binary: str, search_path: str, mutant: Mutant | None) -> Front:
    """Write the wrapper of a program into the folder. `search_path`: where it finds the real one."""
    spool, path = _folders(folder)
    data = mutant.model_dump(mode="json") if mutant else {}
    call = f"\nmain({binary!r}, {search_path!r}, {str(spool)!r}, {data!r})\n"
    files = (outputs.__file__, change.__file__, mutant_wrapper.__file__)
    recorder.write_script(path / binary, _compiled(*files, later=("json", "re")) + call.encode())
    return Front((str(path),), "", spool)


def in_front_of_server(folder: Path, command: str, mutant: Mutant | None) -> Front:
    """Write the proxy of an MCP server into the folder."""
    spool, path = _folders(folder)
    data = mutant.model_dump(mode="json") if mutant else {}
    call = f"\nos._exit(main({command!r}, {str(spool)!r}, {data!r}))\n"
    script = path / "server"
    recorder.write_script(script, _compiled(answer_status.__file__, mutant_proxy.__file__) + call.encode())
    return Front((), shlex.quote(str(script)), spool)


def nothing_in_front(folder: Path) -> Front:
    """Return the front of a scenario without a tool under test: no call is recorded."""
    return Front((), "", _folders(folder)[0])


def tools_of(calls: tuple[ObservedCall, ...]) -> list[dict[str, object]]:
    """Return the tools of an MCP server, from a recorded list of them."""
    listed = next((call.stdout for call in calls if call.argv[0] == TOOL_LIST), "[]")
    tools = json.loads(listed)
    return [tool for tool in tools if isinstance(tool, dict)]


def _folders(folder: Path) -> tuple[Path, Path]:
    spool, path = folder / "calls", folder / "bin"
    spool.mkdir(parents=True)
    path.mkdir()
    for place in (folder, path):
        place.chmod(0o755)
    spool.chmod(0o1777)  # every trial has a user of its own
    return spool, path


@cache
def _compiled(*files: str, later: tuple[str, ...] = ()) -> bytes:
    """Return code that runs the files, compiled for the interpreter that will run it: this saves 12 ms per call.

    Imports of one another are left out. `later`: modules that are imported when they are first used; types are left out
    with them.
    """
    source = "\n".join(Path(file).read_text(encoding="utf-8") for file in files)
    source = re.sub(r"(?m)^from tidegate\..*\n", "", source)
    if later:
        source = re.sub(
            rf"(?m)^(?:import (?:{'|'.join(later)})|from (?:typing|collections\.abc) import .*)\n", "", source
        )
        source += "".join(f"\n{name} = Later({name!r})" for name in later)
    code = compile(source, "mutant", "exec", __future__.annotations.compiler_flag, optimize=2)
    return b"import marshal\nexec(marshal.loads(%b))\n" % repr(marshal.dumps(code)).encode()
