"""Loads the suites of a pull request: base's judges, the target branch's rules apply, head's is the product's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tidegate.errors import ConfigurationError, NothingToRunError
from tidegate.model.suite import Suite
from tidegate.run.checkouts import Sides
from tidegate.suite.lfs_pointers import lfs_pointers
from tidegate.suite.load import load_suite, try_load_suite
from tidegate.suite.uncommitted import uncommitted
from tidegate.text.shorten import few

# Keys whose value is read from the tip of the target branch. What the others mean for a pull request: judges.py.
RULES = (
    "trials",
    "judge",
    "calibration",
    "jobs",
    "budget",
    "policy",
    "limits",
    "pass_env",
    "prices",
    "model_proxy",
    "network",
    "files",
    "store",
    "executor",
    "comment_template",
    "guidance",  # globs; the files are each side's own
)


class BothSuites(NamedTuple):
    """The suites of a pull request.

    `judging` is base's with the target branch's rules; `product` is the same with the prompts that contain files as
    head has these. `base` is what head's suite is compared with; None if there is no suite before this one, which then
    judges. `folder` is the clean checkout that `judging` was read from.
    """

    judging: Suite
    product: Suite
    head: Suite
    base: Suite | None
    folder: Path | None
    comment_template: str | None
    warnings: tuple[str, ...]


def load_both(
    root: Path, branch: str, sides: Sides, *, config: str, environ: Mapping[str, str], lenient: bool
) -> BothSuites:
    """Load the suites of the pull request to this branch.

    Rules are read from the branch's tip, not from the merge base: the pull request's author chooses where it begins.
    If the merge base has no suite of its own, the branch's judges.
    Without secrets (`lenient`), scenarios that need one are still loaded.
    """
    base, warnings = try_load_suite(sides.judge, config, environ=environ, without_secrets=lenient)
    tip, folder = base, sides.judge
    if sides.tip != sides.judge:
        tip = try_load_suite(sides.tip, config, environ=environ, without_secrets=lenient)[0] or base
    if base is None and tip is not None:
        why = "cannot be used" if (sides.judge / config).exists() else "is missing"
        base, folder = tip, sides.tip
        warnings = (f"{config} {why} at the merge base: that of `{branch}` judges",)
    passed = environ if tip is None else {name: environ[name] for name in tip.pass_env if name in environ}
    head = load_suite(sides.head.folder, config, environ=passed, without_secrets=lenient)
    warnings = (*warnings, *_newer_scenarios(tip, base, head, branch), *_of_files(root, config, environ))
    warnings = (*warnings, *lfs_pointers(sides.head.folder, head))
    if base is None or tip is None:
        advisory = head.model_copy(update={"policy": head.policy.model_copy(update={"mode": "advisory"})})
        template = _comment_template(sides.head.folder, "head", head)
        return BothSuites(advisory, advisory, head, None, None, template, warnings)
    rules = {key: getattr(tip, key) for key in RULES}
    judging = base.model_copy(update=rules)
    product = _product(folder, sides, config, environ=passed, lenient=lenient)
    template = _comment_template(sides.tip, "base", tip)
    return BothSuites(judging, product or judging, head, base, folder, template, warnings)


def _product(folder: Path, sides: Sides, config: str, *, environ: Mapping[str, str], lenient: bool) -> Suite | None:
    """Return base's suite with the texts of files in prompts as head has them; None if it cannot be read so."""
    try:
        return load_suite(folder, config, environ=environ, without_secrets=lenient, texts=sides.head.folder)
    except (ConfigurationError, NothingToRunError):
        return None


def _of_files(root: Path, config: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield warnings of files in the working tree that no commit has."""
    here, _ = try_load_suite(root, config, environ=environ, without_secrets=True)
    if here is not None:
        yield from uncommitted(root, here)


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


def _comment_template(folder: Path, side: str, suite: Suite) -> str | None:
    """Return the text of the suite's comment template in that checkout; None if it has none."""
    if suite.comment_template is None:
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
