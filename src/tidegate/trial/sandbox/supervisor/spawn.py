"""Starts a command by the compiled launcher (launcher.c): no fork of the supervisor's Python, which costs 4 ms."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from struct import pack

from tidegate.trial.sandbox.jail_files import OF_A_FILE, Mounts, Rules
from tidegate.trial.sandbox.supervisor.launch import Launch

NONE = pack("=q", -1)  # instead of a step that is left out


def spawn(launcher: str, launch: Launch, files: Sequence[int], errors: int) -> int:
    """Start the command with these three files. Return the process id. What fails is written to `errors`."""
    description = os.memfd_create("command", 0)  # both are inherited
    try:
        with open(description, "wb", closefd=False) as file:
            file.write(encoded(launch))
        os.set_inheritable(errors, True)
        actions = [(os.POSIX_SPAWN_DUP2, file, target) for target, file in enumerate(files)]
        return os.posix_spawn(launcher, [launcher, str(description), str(errors)], {}, file_actions=actions)
    finally:
        os.close(description)


def encoded(launch: Launch) -> bytes:
    """Return the description that the launcher reads."""
    limits = [number for limit in launch.limits for number in limit]
    environment = [f"{name}={value}" for name, value in launch.env.items()]
    parts = [
        pack(f"={1 + len(limits)}q", len(launch.limits), *limits),
        _numbers(launch.namespaces),
        NONE if launch.mounts is None else _mounts(launch.mounts),
        NONE if launch.rules is None else _rules(launch.rules),
        NONE if launch.ports is None else pack("=q", 0) + _numbers(launch.ports),
        pack("=q", len(launch.filters)),
        *map(_text, launch.filters),
        pack("=2q", -1, 0) if launch.capabilities is None else pack("=2q", 0, launch.capabilities),
        pack("=2q", *(launch.account or (-1, -1))),
        _text(launch.cwd),
        _text(launch.program),
        _texts(launch.argv),
        _texts(environment),
    ]
    return b"".join(parts)


def _mounts(mounts: Mounts) -> bytes:
    kept = [_text(path) + pack("=q", is_writable) for path, is_writable in mounts.kept]
    hidden = [_text(folder) + _text(options) for folder, options in mounts.hidden]
    return b"".join(
        [
            pack("=qq", 0, len(kept)),
            *kept,
            _text(mounts.own),
            _texts(mounts.shared),
            pack("=q", len(hidden)),
            *hidden,
        ]
    )


def _rules(rules: Rules) -> bytes:
    paths = [part for rights, path in rules.paths for part in (_number(rights), _path(path))]
    numbers = pack("=qqq", OF_A_FILE, rules.outputs, len(rules.paths))
    held = [number for one in rules.held for number in one]
    held_numbers = pack(f"={1 + len(held)}q", len(rules.held), *held)
    return b"".join([pack("=q", 0), _text(rules.attribute), numbers, *paths, held_numbers])


def _numbers(numbers: Sequence[int]) -> bytes:
    return pack(f"={1 + len(numbers)}q", len(numbers), *numbers)


def _texts(texts: Collection[str]) -> bytes:
    return pack("=q", len(texts)) + b"".join(map(_text, texts))


def _text(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else os.fsencode(text)
    return pack("=q", len(data)) + data + b"\0"


_path = lru_cache(maxsize=256)(_text)  # of what every command may use
_number = lru_cache(maxsize=64)(partial(pack, "=q"))
