#!/usr/bin/env bash
# `join.sh IMAGE VERSION`: one image for both architectures, IMAGE:VERSION; prints its digest.
set -euo pipefail
image=$1 version=$2

docker buildx imagetools create --tag "$image:$version" "$image:$version-amd64" "$image:$version-arm64" >&2
digest=$(docker buildx imagetools inspect --format '{{json .Manifest.Digest}}' "$image:$version" | tr -d '"')
[[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || {
    echo "no digest of $image:$version: $digest" >&2
    exit 1
}
echo "$digest"
