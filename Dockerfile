# The recorder, compiled: it runs at every call of the tool under test, and takes a tenth of the time of a Python script.
FROM python:3.12-slim-bookworm AS compiled
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY src/tidegate/trial/recorder.c /opt/
RUN gcc -O2 -o /opt/recorder-program /opt/recorder.c

# The image that the action runs. It stays root: the runner's files belong to another user, and only root may write them.
FROM python:3.12-slim-bookworm

# tini hands the runner's signals on, and collects what agents leave behind.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git tini \
    && rm -rf /var/lib/apt/lists/*

# Releases and their hashes are locked (`make lock`).
COPY requirements.lock /opt/
RUN python -m pip install --no-cache-dir --no-compile --root-user-action=ignore --require-hashes -r /opt/requirements.lock

COPY pyproject.toml setup.py README.md LICENSE /opt/tidegate/
COPY src /opt/tidegate/src
COPY --from=compiled /opt/recorder-program /opt/tidegate/src/tidegate/trial/
COPY templates /opt/tidegate/templates
COPY examples /opt/tidegate/examples

# Compiled once, here: a container that runs once would compile everything on every start.
RUN python -m pip install --no-cache-dir --no-compile --root-user-action=ignore --no-deps /opt/tidegate \
    && rm -rf /opt/tidegate \
    && python -m compileall -q -x /tests?/ "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"

# The runner mounts its files below /github. Trials, which run as users of their own, do not get in; builds (the group,
# which is BUILDERS of tidegate/trial/users.py) do, since git reads the repository's objects there.
RUN install --directory --mode=0710 --group=61183 /github

LABEL org.opencontainers.image.title="tidegate" \
      org.opencontainers.image.description="Finds out, on every pull request, whether LLM agents still get their work done with your tool" \
      org.opencontainers.image.licenses="Apache-2.0"

# The workspace belongs to the runner's user, which git refuses to read as root without this.
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0=safe.directory \
    GIT_CONFIG_VALUE_0=/github/workspace

ENTRYPOINT ["tini", "--", "tidegate", "action"]
