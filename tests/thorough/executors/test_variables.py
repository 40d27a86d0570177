"""Values of variables on a worker."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from tests.journeys.conftest import FILES
from tests.journeys.test_executors import Make
from tests.thorough.attempts.by_executor import WORKER


def test_values_of_variables_come_from_the_worker_and_are_in_no_bundle(
    make_repository: Make, tidegate: Make, tmp_path: Path
) -> None:
    repo, kept = make_repository(), tmp_path / "kept"
    kept.mkdir()
    # The worker has another value than this machine.
    line = f"cp {{bundle}} {kept}/{{name}}.zip && NOTES_TOKEN=of-the-worker {WORKER}"
    tool = FILES["bin/notes"].replace("add) shift;", 'add) shift; echo "$NOTES_TOKEN" >> token.txt;')
    scenario = FILES["scenarios/keep.yaml"].replace(
        "{binary: notes,", "{binary: notes, env: {NOTES_TOKEN: '${NOTES_TOKEN}'},"
    )
    gate = "    - {type: command_succeeds, command: 'test \"$(head -n 1 token.txt | wc -c)\" = 14'}\n"
    more = f"pass_env: [NOTES_TOKEN]\nexecutor: {{type: command, run: '{line}'}}\n"
    repo.commit(
        FILES
        | {"bin/notes": tool, "scenarios/keep.yaml": scenario + gate, "tidegate.yaml": FILES["tidegate.yaml"] + more}
    )
    ran = tidegate("run", cwd=repo.root, env={**os.environ, "NOTES_TOKEN": "of-this-machine"})
    assert ran.code == 0, ran.stdout + ran.stderr
    for path in kept.iterdir():
        with zipfile.ZipFile(path) as bundle:
            texts = {name: bundle.read(name) for name in bundle.namelist()}
        assert texts.keys() == {"batch.json", "head.tar"}
        assert not any(b"of-this-machine" in text for text in texts.values())
        assert b"${NOTES_TOKEN}" in texts["batch.json"]
