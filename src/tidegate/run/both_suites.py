"""Loads the suites of a pull request: head's, base's, and that of the target branch, whose rules apply."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tidegate.definitions.changes import in_force
from tidegate.errors import ConfigurationError
from tidegate.model.comparison import DefinitionChange
from tidegate.model.revision import Revision
from tidegate.model.suite import Suite
from tidegate.run.build import Checkout
from tidegate.suite.lfs_pointers import lfs_pointers
from tidegate.suite.load import load_suite, try_load_suite
from tidegate.suite.uncommitted import lacking, uncommitted
from tidegate.text.shorten import few
from tidegate.vcs.worktrees import checkout


class BothSuites(NamedTuple):
    """The suites of both sides.

    `base` is what head's definitions are compared with; None if there was no suite before. `in_force` is head's with
    the target branch's rules, and `comment_template` the text of its template.
    """

    head: Suite
    base: Suite | None
    in_force: Suite
    comment_template: str | None
    warnings: tuple[str, ...]
    lacking: tuple[DefinitionChange, ...]  # checks that both sides lack files for


class _Rules(NamedTuple):
    suite: Suite | None
    comment_template: str | None = None


def load_both(
    root: Path,
    target: Revision,
    sides: tuple[Checkout, Checkout],
    *,
    config: str,
    environ: Mapping[str, str],
    lenient: bool,
) -> BothSuites:
    """Load the suites of the pull request; `target` is the tip of the branch that it goes to.

    Rules are read from the branch's tip, not from the merge base: the pull request's author chooses where it begins.
    If the merge base has no suite of its own, head's definitions are compared with the branch's, too.
    Without secrets (`lenient`), scenarios that need one are still loaded.
    """
    base_side, head_side = sides
    base, warnings = try_load_suite(base_side.folder, config, environ=environ, without_secrets=lenient)
    if target.sha == base_side.revision.sha:
        rules = _Rules(base, _comment_template(base_side.folder, "base", base))
    else:
        with checkout(root, target, base_side.folder.with_name(secrets.token_hex(8))) as folder:
            suite, _ = try_load_suite(folder, config, environ=environ, without_secrets=lenient)
            rules = _Rules(suite, _comment_template(folder, "base", suite))
        if suite is None:
            rules = _Rules(base, _comment_template(base_side.folder, "base", base))
        elif base is None:
            base = suite
            why = "cannot be used" if (base_side.folder / config).exists() else "is missing"
            note = f"{config} {why} at the merge base: head's suite is compared with that of `{target.ref}`"
            warnings = (note,)
    head = load_suite(head_side.folder, config, environ=_passed(environ, rules.suite), without_secrets=lenient)
    warnings = (*warnings, *_newer_scenarios(rules.suite, base, head, target.ref))
    here, _ = try_load_suite(root, config, environ=environ, without_secrets=True)
    if here is not None:  # the working tree, which may have files that no commit has
        warnings = (*warnings, *uncommitted(root, here))
    warnings = (*warnings, *lfs_pointers(head_side.folder, head))
    not_there = () if here is None else tuple(lacking(root, here))
    template = rules.comment_template if rules.suite else _comment_template(head_side.folder, "head", head)
    return BothSuites(head, base, in_force(rules.suite, head), template, warnings, not_there)


def _newer_scenarios(target: Suite | None, base: Suite | None, head: Suite, branch: str) -> Iterator[str]:
    """Yield a warning if the target branch has scenarios that the pull request's branch is too old to have."""
    if target is None or base is None:
        return
    known = {scenario.name for suite in (base, head) for scenario in suite.scenarios}
    if newer := [scenario.name for scenario in target.scenarios if scenario.name not in known]:
        yield (
            f"not run, as `{branch}` has them only since this branch began: {few(newer)}; merge `{branch}` into this"
            " branch to run them"
        )


def _passed(environ: Mapping[str, str], rules: Suite | None) -> Mapping[str, str]:
    """Return the variables that head's `${NAME}` may use: those in the rules' `pass_env`.

    With all of them, head could read any secret of the job. Only a first suite gets them all.
    """
    return environ if rules is None else {name: environ[name] for name in rules.pass_env if name in environ}


def _comment_template(folder: Path, side: str, suite: Suite | None) -> str | None:
    """Return the text of the suite's comment template in that checkout; None if it has none."""
    if suite is None or suite.comment_template is None:
        return None
    path = (folder / suite.comment_template).resolve()
    try:
        if not path.is_relative_to(folder.resolve()):
            raise OSError("it leads out of the repository")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"report.comment_template: {suite.comment_template} cannot be read on {side}: {error}",
            "The path is relative to the repository's root.",
        ) from None
