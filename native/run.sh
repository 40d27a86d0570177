#!/usr/bin/env bash
# The one step of native/action.yml: Tidegate in an environment of its own, made once per job, then `tidegate action`.
set -euo pipefail
action=$(cd "$(dirname "$0")/.." && pwd)
venv=$RUNNER_TEMP/tidegate-venv

if [ ! -x "$venv/bin/tidegate" ]; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "tidegate: Python 3.11 or newer is needed. Add actions/setup-python before this step." >&2
        exit 4
    }
    python3 -m venv "$venv"
    pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
    "${pip[@]}" --require-hashes -r "$action/requirements.lock"
    "${pip[@]}" --no-deps "$action"
fi
exec "$venv/bin/tidegate" action
