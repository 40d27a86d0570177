# The base image by its digest, and the day of Debian's archive that packages come from. The workflow `refresh` updates both
# each month, with release/refresh.py. With an empty day, packages come from the sources of the base image.
ARG BASE=python:3.12-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579
ARG SNAPSHOT=20261009T000000Z

FROM ${BASE} AS base
ARG SNAPSHOT
RUN [ -z "$SNAPSHOT" ] || printf 'deb [check-valid-until=no] http://snapshot.debian.org/archive/%s bookworm%s main\n' \
    "debian/$SNAPSHOT" "" "debian/$SNAPSHOT" -updates "debian-security/$SNAPSHOT" -security > /etc/apt/sources.list \
    && [ -z "$SNAPSHOT" ] || rm -f /etc/apt/sources.list.d/debian.sources

# The recorder and the launcher, which run at every call of the tool under test and at every command.
FROM base AS compiled
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc musl-tools \
    && rm -rf /var/lib/apt/lists/*
COPY src/tidegate/trial/recorder.c src/tidegate/trial/sandbox/supervisor/launcher.c /opt/
RUN musl-gcc -O2 -s -static -o /opt/recorder-program /opt/recorder.c \
    && musl-gcc -O2 -s -static -o /opt/launcher-program /opt/launcher.c

FROM base AS whole

# tini hands the runner's signals on, and collects what agents leave behind. Of git, everything but its servers and what needs
# Perl, which would be 60 MB; so it is unpacked, and apt does not know it: `apt-get install git` adds the rest.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini libcurl3-gnutls libexpat1 libpcre2-8-0 zlib1g \
    && cd /tmp && apt-get download git && dpkg-deb --extract git_*.deb /tmp/git && rm git_*.deb \
    && cd /tmp/git/usr/lib/git-core \
    && rm -f git-daemon git-http-backend git-http-fetch git-http-push git-imap-send git-shell scalar \
    && { grep -rlI --null '^#!.*perl' . | xargs --null --no-run-if-empty rm; } \
    && ln -sf ../../bin/git git \
    && cp -a /tmp/git/usr/bin/git /usr/bin/ && cp -a /tmp/git/usr/lib/git-core /usr/lib/ \
    && cp -a /tmp/git/usr/share/git-core /usr/share/ \
    && rm -rf /usr/share/info /usr/share/lintian /tmp/git /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*

# Releases and their hashes are locked (`make lock`), the clouds' libraries among them. Removed is what nothing here imports:
# pygments' lexers and styles, parsers of ASN.1 and C in Python, programs for Windows, Azure's asynchronous classes, and of botocore its
# certificates (certifi has them) and the descriptions of services that give no credentials.
COPY requirements.lock /opt/
RUN python -m pip install --no-cache-dir --no-compile --root-user-action=ignore --require-hashes -r /opt/requirements.lock \
    && python -m pip uninstall --yes --root-user-action=ignore pyasn1 pyasn1-modules pycparser \
    && packages="$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && find "$packages" -type d \( -name tests -o -name test \) -prune -exec rm -r {} + \
    && find "$packages" -name '*.exe' -delete \
    && find "$packages/pygments/lexers" "$packages/pygments/styles" "$packages/pygments/formatters" -name '*.py' \
        ! -name __init__.py ! -name _mapping.py -delete \
    && rm -r "$packages/azure/identity/aio" "$packages/botocore/cacert.pem" \
    && find "$packages/botocore/data" -mindepth 1 -maxdepth 1 -type d ! -name 'sso*' ! -name sts -exec rm -r {} +

COPY pyproject.toml setup.py build_backend.py README.md LICENSE /opt/tidegate/
COPY src /opt/tidegate/src
COPY --from=compiled /opt/recorder-program /opt/tidegate/src/tidegate/trial/
COPY --from=compiled /opt/launcher-program /opt/tidegate/src/tidegate/trial/sandbox/supervisor/
COPY templates /opt/tidegate/templates
COPY examples /opt/tidegate/examples

# Compiled once, here: a container that runs once would compile everything on every start. Not what few use: pip and the clouds'
# libraries, which cost a second where a provider without a key needs them. The templates of the comment and the page, too,
# which every pull request needs. Python's programs with windows are left out.
# The stage that compiled them may come from a cache: then they are older than their sources, and would be compiled again.
RUN touch /opt/tidegate/src/tidegate/trial/recorder-program /opt/tidegate/src/tidegate/trial/sandbox/supervisor/launcher-program \
    && python -m pip install --no-cache-dir --no-compile --root-user-action=ignore --no-deps /opt/tidegate \
    && library="$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
    && rm -rf /opt/tidegate /root/.cache \
    && (cd "$library" && rm -rf idlelib lib2to3 tkinter turtledemo) \
    && find "$library" -path '*/pip/*' -name __pycache__ -prune -exec rm -r {} + \
    && python -m compileall -q -x '/(tests?|pip|ensurepip|pydoc_data|unittest|distutils|curses|wsgiref|uvicorn|starlette|botocore|azure|google|msal)/' "$library" \
    && python -c 'from tidegate.reports import comment, html; \
        [comment.environment().get_template(f"{name}.md.j2") for name in ("comment", "rows", "terminal", "fix")]; \
        html.environment().get_template("page/report.html.j2")'

# The runner mounts its files below /github. Trials, which run as users of their own, do not get in; builds (the group,
# which is BUILDERS of tidegate/trial/sandbox/users.py) do, since git reads the repository's objects there.
RUN install --directory --mode=0710 --group=61183 /github

# The image that the action runs, in one layer: what was removed above takes no room. It stays root: the runner's files
# belong to another user, and only root may write them.
FROM scratch
COPY --from=whole / /

LABEL org.opencontainers.image.title="tidegate" \
      org.opencontainers.image.description="Finds out, on every pull request, whether LLM agents still get their work done with your tool" \
      org.opencontainers.image.licenses="Apache-2.0"

# The workspace belongs to the runner's user, which git refuses to read as root without this.
ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0=safe.directory \
    GIT_CONFIG_VALUE_0=/github/workspace

ENTRYPOINT ["tini", "--", "tidegate", "action"]
