"""Give the checkouts of a job the builds that another job has made for all shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tidegate.errors import CannotRunError
from tidegate.model.shard import ShardPlan
from tidegate.model.trial_spec import Side
from tidegate.run.build import Checkout
from tidegate.shards.build_archive import BUILD_FILE, Built
from tidegate.shards.bundle import BadBundleError


def with_builds(sides: Sequence[Checkout], plan: ShardPlan, shards: Path) -> tuple[Checkout, ...]:
    """Return the sides with their builds in the folder `shards`, if the plan has the sides built once.

    Raises CannotRunError if one is missing, damaged or of another run: no trial of this job is measured then.
    """
    if not plan.build_once:
        return tuple(sides)
    return tuple(replace(side, built=_read(build_path(shards, side.side), plan, side)) for side in sides)


def build_path(shards: Path, side: Side) -> Path:
    """Return where a side's build is. Each side has a folder: what comes with head's build cannot replace base's."""
    return shards / "build" / side / BUILD_FILE


def seals(sides: Sequence[Checkout]) -> dict[Side, str]:
    """Return the seals of the builds that the sides were given."""
    return {side.side: side.built.seal for side in sides if side.built is not None}


def _read(path: Path, plan: ShardPlan, side: Checkout) -> Built:
    try:
        built = Built.read(path)
        its = built.contents
        if (its.plan, its.side, its.commit) != (plan.run, side.side, side.revision.sha):
            raise BadBundleError("is of another run, or of the other side")
    except BadBundleError as error:
        again = f"Run `tidegate shard --build {side.side}` again, or its job."
        raise CannotRunError(f"the build of {side.side} cannot be used: {path} {error}.", again) from None
    return built
