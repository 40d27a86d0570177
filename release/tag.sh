#!/usr/bin/env bash
# `tag.sh VERSION IMAGE DIGEST AGENTS_DIGEST`: tags a commit of its own, whose actions start the images by digest, as
# vVERSION, and lets the tag of the major version (v1) follow. No branch is touched.
set -euo pipefail
version=$1 image=$2 digest=$3 agents_digest=$4
major=v${version%%.*}

python3 release/pin.py "$image" "$digest" "$agents_digest"
git add action.yml agents/action.yml
git -c user.name=github-actions -c user.email=41898282+github-actions[bot]@users.noreply.github.com \
    commit --quiet --message "release: $version"
if git fetch --quiet origin "refs/tags/v$version:refs/tags/v$version" 2> /dev/null; then # by an attempt that failed later
    git diff --quiet "v$version" HEAD || { echo "the tag v$version is there already, with other images" >&2 && exit 1; }
else
    git tag "v$version"
    git push --quiet origin "refs/tags/v$version"
fi
git tag --force "$major" "v$version"
# Only forwards: a release of an older line must not take the major version's tag back.
newest=$(git ls-remote --tags origin "refs/tags/$major.*" | sed 's|.*refs/tags/v||; /\^{}$/d' | sort --version-sort | tail -1)
if [ "$newest" = "$version" ]; then
    git push --quiet --force origin "refs/tags/$major"
else
    echo "$major stays at v$newest" >&2
fi
