#!/usr/bin/env bash
# `refresh.sh`: updates all that images and releases are made of, and opens a pull request if that changed anything.
set -euo pipefail
base=$(sed -n 's/^ARG BASE=\([^@]*\).*/\1/p' Dockerfile)
digest=$(docker buildx imagetools inspect "$base" --format '{{json .Manifest.Digest}}' | tr -d '"')
day=$(date --utc --date yesterday +%Y%m%dT000000Z) # today's archive may still change

python3 release/refresh.py "$digest" "$day"
make lock
if git diff --quiet; then
    echo "nothing has changed" >&2
    exit
fi
branch=refresh/$day
git switch --quiet --create "$branch"
git -c user.name=github-actions -c user.email=41898282+github-actions[bot]@users.noreply.github.com \
    commit --quiet --all --message "images: base, packages and lock files of $day"
git push --quiet origin "$branch"
gh pr create --head "$branch" --title "images: base, packages and lock files of $day" \
    --body "Close and reopen this pull request to start its checks: GitHub starts none for what a workflow opens."
