#!/usr/bin/env bash
# `propose.sh PATCH`: opens a pull request with what `refresh.sh` has changed, if that is anything. Only the pinned files are taken.
set -euo pipefail
files=(Dockerfile requirements.lock release/requirements.lock images/agents/requirements.lock images/agents/package.json images/agents/package-lock.json)
if [ ! -s "$1" ]; then
    echo "nothing has changed" >&2
    exit
fi
while IFS=$'\t' read -r _ _ file; do
    [[ " ${files[*]} " == *" $file "* ]] || { echo "the patch changes $file, which is no pinned file" >&2 && exit 1; }
done < <(git apply --numstat "$1")
git apply "$1"
day=$(sed -n 's/^ARG SNAPSHOT=//p' Dockerfile)
branch=refresh/$day
git switch --quiet --create "$branch"
git -c user.name=github-actions -c user.email=41898282+github-actions[bot]@users.noreply.github.com \
    commit --quiet --all --message "images: base, packages and lock files of $day"
git push --quiet origin "$branch"
gh pr create --head "$branch" --title "images: base, packages and lock files of $day" \
    --body "Close and reopen this pull request to start its checks: GitHub starts none for what a workflow opens."
