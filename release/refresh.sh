#!/usr/bin/env bash
# `refresh.sh PATCH`: updates all that images and releases are made of, and writes what that changed. Runs others' programs, so it
# needs no token; `propose.sh` takes the patch from there.
set -euo pipefail
base=$(sed -n 's/^ARG BASE=\([^@]*\).*/\1/p' Dockerfile)
digest=$(docker buildx imagetools inspect "$base" --format '{{json .Manifest.Digest}}' | tr -d '"')
day=$(date --utc --date yesterday +%Y%m%dT000000Z) # today's archive may still change

python3 release/refresh.py "$digest" "$day"
make lock
git diff > "$1"
