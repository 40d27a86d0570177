#!/usr/bin/env bash
# `wheel.sh BIN DIST [MACHINE]`: builds the wheel for this machine or for another one (`uname -m`), and on x86-64 the source
# distribution. BIN has uv and what builds. The same commit makes the same files, so that a failed release can be started again.
set -euo pipefail
bin=$1 dist=$2
TIDEGATE_MACHINE=${3:-$(uname -m)}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export TIDEGATE_MACHINE SOURCE_DATE_EPOCH
build=(--quiet --no-build-isolation --python "$bin/python" --out-dir "$dist")
programs=(src/tidegate/trial/recorder-program src/tidegate/trial/sandbox/supervisor/launcher-program)

umask 022
rm -rf build "${programs[@]}" # they may be another machine's
"$bin/uv" build --wheel "${build[@]}"
for program in "${programs[@]}"; do
    # The wheel's tag promises that they need no library of the system.
    if readelf --program-headers "$program" | grep --quiet INTERP; then
        echo "$program is not linked statically" >&2
        exit 1
    fi
done
if [ "$TIDEGATE_MACHINE" = x86_64 ]; then
    "$bin/uv" build --sdist "${build[@]}"
    for made in "$dist"/*.tar.gz; do # again, without the times and the owner of this checkout
        (
            unpacked=$(mktemp --directory)
            trap 'rm -rf "$unpacked"' EXIT
            tar --extract --file "$made" --directory "$unpacked"
            tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
                --directory "$unpacked" "$(basename "$made" .tar.gz)" | gzip --no-name --best > "$made"
        )
    done
fi
rm -rf "$dist/.gitignore" build
