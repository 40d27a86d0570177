#!/usr/bin/env bash
# `build.sh IMAGE VERSION ARCH`: builds and pushes IMAGE:VERSION-ARCH and IMAGE-agents:VERSION-ARCH, each with its
# provenance and the list of what is in it (SBOM). To be run on a machine of that architecture.
set -euo pipefail
image=$1 version=$2 arch=$3
commit=$(git rev-parse HEAD)

# The engine's own builder makes neither of the two.
docker buildx create --name release --driver docker-container --use

build() { # NAME FOLDER [OPTION…]
    docker buildx build --push --platform "linux/$arch" --provenance=mode=max --sbom=true \
        --label "org.opencontainers.image.version=$version" \
        --label "org.opencontainers.image.revision=$commit" \
        --label "org.opencontainers.image.source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
        --tag "$1:$version-$arch" "${@:3}" "$2"
}

build "$image" .
build "$image-agents" images/agents --build-arg "IMAGE=$image:$version-$arch"
