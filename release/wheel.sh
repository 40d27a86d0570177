#!/usr/bin/env bash
# `wheel.sh BIN DIST`: builds the wheel for this machine and, on x86-64, the source distribution. BIN has uv and what builds.
# The same commit makes the same files, so that a release that failed half-way can be started again.
set -euo pipefail
bin=$1 dist=$2
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
build=(--quiet --no-build-isolation --python "$bin/python" --out-dir "$dist")

umask 022
"$bin/uv" build --wheel "${build[@]}"
if [ "$(uname -m)" = x86_64 ]; then
    "$bin/uv" build --sdist "${build[@]}"
fi
rm -f "$dist/.gitignore"
