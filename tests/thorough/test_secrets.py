"""Secrets that the tool under test prints do not leave the job.

The value of one is known to Tidegate: it is in nothing that a run leaves behind. The other is a key that only its
format gives away: it is in none of the files and texts that are published, but in the records, on which gates decide.
"""

from __future__ import annotations

import base64
import json
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.journeys.conftest import FILES
from tests.packed import whole_text
from tidegate.text.redaction import MARK

Make = Callable[..., Any]

SECRET = 'tok-"91/+ü'
UNKNOWN = "npm_" + "aB3dE5" * 6  # put together here, so that no scanner finds a key in this file
PRINTED = {
    "plain": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "URL": quote(SECRET, safe=""),
    "hexadecimal": SECRET.encode().hex(),
    "base64": base64.b64encode(SECRET.encode()).decode().rstrip("="),
    "base64 for URLs": base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
}
PLANTED_IN = (".stdout", ".stderr", "workspace.diff", "leaked-script.txt")  # by what the programs printed and wrote
_REMOVED = re.compile(r"error: (\w+)[^\n]{0,40}?: (?:\\*\[NOTES_TOKEN\\*\]\w?=* ){6}")
PRINT = """\
#!/usr/bin/env python3
# Prints the secret in every form, and leaves it in a file.
import base64, json, os, sys
from urllib.parse import quote
secret = os.environ["NOTES_TOKEN"]
data = secret.encode()
forms = [secret, json.dumps(secret)[1:-1], quote(secret, safe=""), data.hex()]
forms += [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()]
forms += ["npm_" + "aB3dE5" * 6]
text = f"error: {sys.argv[1]}: " + " ".join(forms)
if sys.argv[1] == "evaluator":
    sys.exit(print(json.dumps({"score": 1, "reasoning": text})))
print(text)
print(text, file=sys.stderr)
if sys.argv[1] not in ("build", "version"):
    with open(f"leaked-{sys.argv[1]}.txt", "a") as file:
        file.write(text + "\\n")
if results := os.environ.get("TIDEGATE_RESULTS_DIR"):
    with open(f"{results}/leaked-{sys.argv[1]}.txt", "w") as file:
        file.write(text + "\\n")
sys.exit(sys.argv[2:3] == ["fail"])
"""
SUITE = """\
version: 1
scenarios: [scenarios/*.yaml]
path: [bin]
build: [bin/leak build]
pass_env: [NOTES_TOKEN]
agents:
  any: {type: command, command: 'leak agent; leak "argv $NOTES_TOKEN"; notes add first', deterministic: true}
"""
SCENARIO = """\
name: keep_notes
description: A note is kept.
target: {binary: notes, health_check: leak version, env: {NOTES_TOKEN: "${NOTES_TOKEN}"}}
task: Add a note.
setup: {commands: [leak setup]}
evaluation:
  evaluators: [{type: code_judge, script: leak evaluator}]
  gates:
    - {type: file_contains, path: notes.txt, substring: first}
    - {type: command_output_contains, command: leak gate, substring: "error: gate"}
    - {type: command_output_matches, command: leak key, pattern: "npm_[A-Za-z0-9]{36}"}
    - {type: script, command: leak script, description: prints}
"""


def leaks(*folders: Path) -> Iterator[str]:
    """Name each file below the folders that holds the secret, with the form."""
    for path in (path for folder in folders for path in folder.rglob("*")):
        if stat.S_ISREG(path.lstat().st_mode):
            data = path.read_bytes()
            yield from (f"{path.name}: {form}" for form, text in PRINTED.items() if text.encode() in data)


def places(folder: Path) -> set[tuple[str, str]]:
    """Return where the secret was printed and removed in each of its forms: the kind of file, and who printed it."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            kind = path.suffix if path.suffix in (".stdout", ".stderr") else path.name
            text = path.read_text(errors="replace")
            found |= {(kind, who) for who in _REMOVED.findall(text)}
    return found


@pytest.mark.parametrize("broken", ["the tool", "the build"])
def test_a_secret_in_20_places_and_6_encodings_is_in_no_file_and_no_log(
    make_repository: Make, tidegate: Make, broken: str
) -> None:
    repo = make_repository()
    tool = FILES["bin/notes"].replace("  add) shift;", "  add) leak tool; shift;")
    repo.commit(
        {**FILES, "bin/notes": tool, "bin/leak": PRINT, "tidegate.yaml": SUITE, "scenarios/keep.yaml": SCENARIO}
    )
    head = {
        "the tool": {"bin/notes": tool.replace('echo "$1" >>', "leak tool fail; : >>")},
        "the build": {"bin/leak": PRINT.replace('== ["fail"]', '== ["fail"] or sys.argv[1] == "build"')},
    }
    repo.branch("pr", head[broken])

    ran = tidegate("pr", "--base", "main", "--head", "pr", cwd=repo.root, env={"NOTES_TOKEN": SECRET})

    assert ran.code == 1, ran.stderr
    assert "[NOTES_TOKEN]" in "".join(path.read_text() for path in ran.out.rglob("*.std*"))
    assert list(leaks(ran.out, repo.root / ".tidegate")) == []
    assert [form for form, text in PRINTED.items() if text in ran.stdout + ran.stderr] == []
    page = (ran.out / "report.html").read_text()
    texts = [ran.stdout, ran.stderr, page, whole_text(page), (ran.out / "comment.md").read_text()]
    result = (ran.out / "result.json").read_text()
    assert not any(UNKNOWN in text for text in (*texts, result))
    assert MARK in result
    if broken == "the tool":
        planted = {place for place in places(ran.out) if place[0] in PLANTED_IN}
        assert (len(planted) >= 20, len(PRINTED)) == (True, 6), planted
        assert UNKNOWN in "".join(path.read_text() for path in ran.out.rglob("*.stdout"))
        assert whole_text(page).count(MARK) > 20
        gates = [gate for trial in json.loads(result)["trials"] for gate in trial["gates"]]
        assert {gate["passed"] for gate in gates if "leak key" in gate["label"]} == {True}
