"""`pin.py IMAGE DIGEST AGENTS_DIGEST`: a release's actions start its images, by digest."""

from __future__ import annotations

import re
import sys
from pathlib import Path

BUILT = "\n  image: Dockerfile\n"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def pinned(action: str, image: str, digest: str) -> str:
    """The text of action.yml with this image in the place of the Dockerfile; ValueError if either is not what it is."""
    if DIGEST.fullmatch(digest) is None or action.count(BUILT) != 1:
        raise ValueError(f"cannot write {digest!r} into action.yml")
    return action.replace(BUILT, f"\n  image: docker://{image}@{digest}\n")


def main(image: str, digest: str, agents_digest: str) -> None:
    """Write action.yml, and agents/action.yml beside it."""
    action = Path("action.yml").read_text(encoding="utf-8")
    Path("agents").mkdir(exist_ok=True)
    named = action.replace("name: Tidegate\n", "name: Tidegate with agents\n", 1)
    Path("agents/action.yml").write_text(pinned(named, f"{image}-agents", agents_digest), encoding="utf-8")
    Path("action.yml").write_text(pinned(action, image, digest), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
