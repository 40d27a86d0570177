"""Finds what head's build makes otherwise than base's build, of the files that checks depend on."""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tidegate.history.script_contents import script_files
from tidegate.model.comparison import DefinitionChange
from tidegate.model.suite import Scenario, Suite
from tidegate.run.build import Checkout
from tidegate.text.shorten import few
from tidegate.trial.workspace import everything_below, initial_state, matching_files
from tidegate.vcs.revisions import files_below

Contents = Mapping[str, str]  # what a file holds, by name; "" for one that is gone
_SHADOWS = "programs of the system that its `path` has in front now"
_TEMPLATE = "files that a build has made in its template"
_SCRIPTS = "files that a build has made of its evaluators"
_ANOTHER = "another program of the target's name is tested"
_REPLACED = "head's build replaces files of the commit, which are then not what is tested"


def made_by_head(
    base: Checkout, head: Checkout, suite: Suite, hidden: Sequence[str], path: str
) -> tuple[DefinitionChange, ...]:
    """Return the weakened checks that can be seen only once both sides are built; none without a suite on base.

    What both builds make alike is left out, such as the `python` of a virtual environment. `suite`: the one in force;
    `hidden`: programs of the system that only head's `path` hides; `path`: the system's PATH.
    """
    if base.own is None:
        return ()
    found: list[DefinitionChange] = []
    if hidden:
        detail = f"{_SHADOWS}: {few(hidden)}"
        found.append(DefinitionChange(scenario=None, kind="changed", detail=detail, weakened=True))
    if replaced := _replaced(base, head, suite):
        detail = f"{_REPLACED}: {few(replaced)}"
        found.append(DefinitionChange(scenario=None, kind="changed", detail=detail, weakened=True))
    if others := list(_other_programs(base, head, suite, path)):
        detail = f"{_ANOTHER}: {few(others)}"
        found.append(DefinitionChange(scenario=None, kind="changed", detail=detail, weakened=True))
    now = {scenario.name: scenario for scenario in suite.scenarios}
    for before in base.own.scenarios:
        if (after := now.get(before.name)) is not None:
            old, new = _made_in_template(base, before, suite.guidance), _made_in_template(head, after, suite.guidance)
            found += _weakened(after, _TEMPLATE, _differing(old, new, after.template or ""))
            scripts = _made_of_scripts(base, before), _made_of_scripts(head, after)
            found += _weakened(after, _SCRIPTS, _differing(*scripts, ""))
    return tuple(found)


def _other_programs(base: Checkout, head: Checkout, suite: Suite, path: str) -> Iterator[str]:
    """Yield the targets that head's `path` has elsewhere than base's, and that have not just moved.

    Head still has something at base's place, or base has a file at head's: an older copy, say. A target that head's
    `path` no longer has is one of them if the system has such a program.
    """
    for name in dict.fromkeys(scenario.target.binary for scenario in suite.scenarios):
        old, new = (_place_in_path(side, suite, name) for side in (base, head))
        if old is None:
            continue
        if new is not None and old != new and (os.path.lexists(head.folder / old) or (base.folder / new).exists()):
            yield f"{new} instead of {old}"
        if new is None and (found := shutil.which(name, path=path)):
            yield f"{found} instead of {old}"


def _place_in_path(side: Checkout, suite: Suite, name: str) -> str | None:
    """Return where the side's `path` finds the program, relative to its checkout; None if it does not."""
    if not name or "/" in name:
        return None
    places = (posixpath.normpath(posixpath.join(folder, name)) for folder in side.path_of(suite))
    return next((place for place in places if shutil.which(side.folder / place)), None)


def _weakened(scenario: Scenario, what: str, files: Sequence[str]) -> Iterator[DefinitionChange]:
    if files:
        detail = f"{what}: {few(files)}"
        yield DefinitionChange(scenario=scenario.name, kind="gate_changed", detail=detail, weakened=True)


def _differing(old: Contents, new: Contents, folder: str) -> list[str]:
    return sorted(posixpath.join(folder, name) for name in {*old, *new} if old.get(name) != new.get(name))


def _replaced(base: Checkout, head: Checkout, suite: Suite) -> list[str]:
    """Return the files that the pull request changed and that head's build made otherwise than the commit has them.

    These are files that are as base has them again, and programs in `path` that base's build leaves alone.
    """
    if not head.build_of(suite):
        return []
    old, new = (files_below(side.folder, side.revision, ".") for side in (base, head))
    changed = {name: text for name, text in new.items() if name in old and old[name] != text}
    made = {name: text for name in changed if (text := _as_in_git(head.folder / name)) not in (None, new[name])}
    folders = set(map(posixpath.normpath, head.path_of(suite)))
    programs = {name for name in made if (posixpath.dirname(name) or ".") in folders}
    alone = {name for name in programs if _as_in_git(base.folder / name) == old[name]}
    return sorted(name for name, text in made.items() if text == old[name] or name in alone)


def _made_in_template(side: Checkout, scenario: Scenario, guidance: Sequence[str]) -> Contents:
    """Return what is in the template now and is not as the commit has it, without guidance files."""
    if scenario.template is None:
        return {}
    whole = side.folder / scenario.template
    if whole.resolve() != side.folder.resolve() / scenario.template and files_below(
        side.folder, side.revision, scenario.template
    ):
        return {"": "a link"}  # a folder in the commit, and a link now
    folder = initial_state(side.folder, scenario.template).resolve()
    made = _not_as_committed(side, folder, (path.relative_to(folder).as_posix() for path in everything_below(folder)))
    own = set(matching_files(folder, scenario.guidance_or(guidance)))
    return {name: text for name, text in made.items() if name not in own}


def _made_of_scripts(side: Checkout, scenario: Scenario) -> Contents:
    """Return the scripts of the evaluators, and the files of their kind beside them, that are not as committed."""
    found: dict[str, str] = {}
    for script in script_files(side.folder, scenario):
        folder, suffix = (side.folder / script).parent, Path(script).suffix
        beside = [path.name for path in folder.iterdir() if path.suffix == suffix and not path.is_dir()]
        made = _not_as_committed(side, folder, {*beside, Path(script).name}, below=False)
        found.update({posixpath.join(posixpath.dirname(script), name): text for name, text in made.items()})
    return found


def _not_as_committed(side: Checkout, folder: Path, names: Iterable[str], *, below: bool = True) -> Contents:
    """Return those of the names that are not in the commit, or hold something else there; what is gone, with "".

    `below`: the names are all that the folder holds, so that each file of the commit has to be among them.
    """
    place = folder.relative_to(side.folder.resolve()).as_posix()
    committed = files_below(side.folder, side.revision, place)
    present = {name: text for name in names if (text := _as_in_git(folder / name)) is not None}
    wanted = committed if below else {name: committed[name] for name in present if name in committed}
    made = {name: text for name, text in present.items() if wanted.get(name) != text}
    return {**made, **{name: "" for name in wanted if name not in present and "commit" not in wanted[name]}}


def _as_in_git(path: Path) -> str | None:
    """Return a file's mode and hash as git lists them; None for a folder and for what is gone."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return f"120000 blob {_blob(os.fsencode(path.readlink()))}"
        if stat.S_ISREG(mode):
            return f"{'100755' if mode & stat.S_IXUSR else '100644'} blob {_blob(path.read_bytes())}"
    except FileNotFoundError:
        return None
    return None if stat.S_ISDIR(mode) else "special"


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
