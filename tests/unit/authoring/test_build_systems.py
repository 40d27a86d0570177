"""Which tools a repository has and how each is built, for all build systems. Shapes are those of real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import sure
from tidegate.authoring.build_systems import find_tools, has_favourite, with_beside
from tidegate.authoring.build_systems.files import lacking_interpreter
from tidegate.authoring.build_systems.node import with_less
from tidegate.authoring.build_systems.python import with_advice, with_older_sdk
from tidegate.authoring.tool import Tool

SETUP_PY_TEXT = '''
from setuptools import setup
setup(name="tally", entry_points="""
    [console_scripts]
    tally=tally.cli:main
    [x.plugins]
    other=tally.plugins
""")
'''
SETUP_PY = (
    "import setuptools\nsetuptools.setup(name='tally', entry_points={'console_scripts': ['tally=tally.cli:main']})\n"
)
CMAKE = "project(tally C)\nadd_subdirectory(src)\nadd_subdirectory(tests)\n"
SCRIPT = "#!/bin/sh\n"
PERL = (
    """'root=$(cd "${0%/*}/../.." && pwd)' 'exec perl -I"$root/lib" "$root/script/tally" "$@"' """
    "> .tidegate/bin/tally && chmod +x .tidegate/bin/tally"
)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return root


CASES: dict[str, tuple[dict[str, str], tuple[str, str, str]]] = {  # files; tool, first build command, first folder
    "pyproject": (
        {"pyproject.toml": '[project]\nname = "x"\n[project.scripts]\ntally = "a:b"\n'},
        ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin"),
    ),
    "poetry": (
        {"pyproject.toml": '[tool.poetry.scripts]\ntally = "a:b"\n'},
        ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin"),
    ),
    "setup.cfg": (
        {"pyproject.toml": "", "setup.cfg": "[options.entry_points]\nconsole_scripts =\n  tally = a:b\n"},
        ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin"),
    ),
    "setup.py": ({"setup.py": SETUP_PY}, ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin")),
    "setup.py, entry points as one text": (
        {"setup.py": SETUP_PY_TEXT},
        ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin"),
    ),
    "setup.py, entry points by dict()": (
        {"setup.py": SETUP_PY.replace("{'console_scripts': [", "dict(console_scripts=[").replace("]}", "])")},
        ("tally", "python3 -m venv .tidegate/venv", ".tidegate/venv/bin"),
    ),
    "node": (
        {"package.json": '{"name": "@me/tally", "bin": "cli.js"}', "package-lock.json": "{}"},
        ("tally", "npm ci --omit=dev", ".tidegate/npm/bin"),
    ),
    "node, a script that is there": (
        {"package.json": '{"name": "tally", "bin": "./bin/tally"}', "bin/tally": "#!/bin/sh\n"},
        ("tally", "", "bin"),
    ),
    "node, a script that may need what is left out": (
        {"package.json": '{"name": "tally", "bin": "cli.js", "scripts": {"prepublish": "test"}}', "cli.js": ""},
        ("tally", "npm install --omit=dev --ignore-scripts && npm rebuild", ".tidegate/npm/bin"),
    ),
    "node, a program that is built": (
        {
            "package.json": '{"name": "tally", "bin": "dist/cli.js", "scripts": {"build": "tsc"}}',
            "package-lock.json": "{}",
        },
        ("tally", "npm ci", ".tidegate/npm/bin"),
    ),
    "cargo": (
        {"Cargo.toml": '[package]\nname = "tally"\n', "src/main.rs": ""},
        ("tally", "cargo build --release --bin tally", "target/release"),
    ),
    "cargo workspace": (
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/lib/Cargo.toml": '[package]\nname = "lib"\n',
            "crates/cli/Cargo.toml": '[package]\nname = "cli"\n[[bin]]\nname = "tally"\n',
        },
        ("tally", "cargo build --release --bin tally", "target/release"),
    ),
    "go": (
        {"go.mod": "module example.org/tally/v2\n", "main.go": ""},
        ("tally", "go build -o .tidegate/go/tally .", ".tidegate/go"),
    ),
    "go, below cmd": (
        {"go.mod": "module example.org/x\n", "cmd/tally/main.go": ""},
        ("tally", "go build -o .tidegate/go/tally ./cmd/tally", ".tidegate/go"),
    ),
    "perl": (
        {"Makefile.PL": "WriteMakefile(EXE_FILES => [qw(script/tally)])", "script/tally": "", "bin/other": SCRIPT},
        ("tally", "mkdir -p .tidegate/bin && printf '%s\\n' '#!/bin/sh' " + PERL, ".tidegate/bin"),
    ),
    "perl, named by a variable": (
        {
            "Makefile.PL": 'WriteMakefile(EXE_FILES => ["${dir}/x", "." . "script/$name"])',
            "script/tally": "",
            "bin/other": SCRIPT,
        },
        ("tally", "mkdir -p .tidegate/bin && printf '%s\\n' '#!/bin/sh' " + PERL, ".tidegate/bin"),
    ),
    "meson": (
        {"meson.build": "project('x')\nexecutable(\n  get_option('prefix') + 'tally', 'a.c')\n"},
        ("tally", "meson setup .tidegate/meson --buildtype release", ".tidegate/meson"),
    ),
    "cmake": (
        {
            "CMakeLists.txt": CMAKE,
            "src/CMakeLists.txt": "add_executable(exe a.c)\nset_target_properties(exe PROPERTIES\nOUTPUT_NAME tally)\n",
            "tests/CMakeLists.txt": "add_executable(test_it t.c)\n",
        },
        ("tally", "cmake -S . -B .tidegate/cmake -DCMAKE_BUILD_TYPE=Release", ".tidegate/cmake/src"),
    ),
    "cmake, output name of a variable": (
        {
            "CMakeLists.txt": "project(x)\nset(P exe)\nadd_executable(${P} a.c)\n"
            "set_target_properties(${P} PROPERTIES\n OUTPUT_NAME tally)\n"
        },
        ("tally", "cmake -S . -B .tidegate/cmake -DCMAKE_BUILD_TYPE=Release", ".tidegate/cmake"),
    ),
    "cmake, name in a variable": (
        {"CMakeLists.txt": 'project(x)\nset(P "tally")\nadd_executable(api_test t.c)\nadd_executable(${P} a.c)\n'},
        ("tally", "cmake -S . -B .tidegate/cmake -DCMAKE_BUILD_TYPE=Release", ".tidegate/cmake"),
    ),
    "autotools": (
        {"configure.ac": "AC_INIT([the_tally], [1])\n", "Makefile.am": "bin_PROGRAMS = tally\n"},
        ("tally", "autoreconf --install", "."),
    ),
    "make, rule": ({"Makefile": "tally: tally.c\n\tcc -o tally tally.c\n"}, ("tally", "make tally", ".")),
    "make, what all makes": (
        {"Makefile": "all: other docs\nother: a.c\n\tcc -o other a.c\ndocs:\n\tmkdocs\n"},
        ("other", "make", "."),
    ),
    "make, data that it installs": (
        {"Makefile": "DATA = $(prefix)/share/tally\ntally: tally.c\n\tcc -DDATA=$(DATA) tally.c\n"},
        (
            *("tally", "make install prefix=$PWD/.tidegate/make PREFIX=$PWD/.tidegate/make tally"),
            ".tidegate/make/bin",
        ),
    ),
    "make, data and a folder of the system": (
        {"Makefile": "DATA = $(prefix)/share/tally\nMAN = /usr/share/man\ntally: tally.c\n\tcc tally.c\n"},
        ("tally", "make tally", "."),
    ),
    "make, variable": ({"Makefile": "EXE\t= src/other\nall: $(EXE)\n"}, ("other", "make", "src")),
    "make, installed variable, own configure": (
        {
            "configure": SCRIPT,
            "Makefile": "ALL = \\\n  tally\nall: $(ALL)\ninstall:\n\tinstall -m0755 $(ALL) $(DESTDIR)$(bindir)\n",
        },
        ("tally", "./configure", "."),
    ),
    "make, own configure.sh": (
        {"configure.sh": SCRIPT, "Makefile.in": "tally: tally.c\n\tcc tally.c\n"},
        ("tally", "./configure.sh", "."),
    ),
    "make, a script below": (
        {"src/tally": SCRIPT, "Makefile": "install:\n\tinstall -m 755 src/tally ${DESTDIR}${PREFIX}/bin\n"},
        ("tally", "", "src"),
    ),
    "bin": ({"bin/tally": SCRIPT, "Makefile": "test:\n"}, ("tally", "", "bin")),
    "script below, shown in README": (
        {"src/tally": SCRIPT, "src/tally-add": SCRIPT, "README.md": "    tally add milk\n", "tests/tally": SCRIPT},
        ("tally", "", "src"),
    ),
    "script, made of its source": (
        {
            "src/tally": SCRIPT,
            "README.md": "    tally add\n",
            "Makefile": "build:\n\tcat src/* > tally\ninstall:\n\tinstall -m 755 tally $(BINDIR)/tally\n",
        },
        ("tally", "make", "."),
    ),
    "script, made of its source in another folder": (
        {
            "src/tally": SCRIPT,
            "README.md": "    tally add\n",
            "Makefile": "build: bin/tally\nbin/tally:\n\tcat src/* > $@\n"
            "install: build\n\tinstall -m 755 bin/tally $(BINDIR)/tally\n",
        },
        ("tally", "make", "bin"),
    ),
    "script, with an older copy": (
        {"tally": SCRIPT, "old/tally": SCRIPT, "README.md": "    tally add milk\n"},
        ("tally", "", "."),
    ),
    "script, named like the folder": ({"tally.sh": SCRIPT, "install.sh": SCRIPT}, ("tally.sh", "", ".")),
    "script, installed by the README": (
        {"ticket": SCRIPT, "README.md": 'ln -s "$PWD/ticket" ~/.local/bin/tk\n'},
        ("tk", "mkdir -p .tidegate/bin && ln -sf ../../ticket .tidegate/bin/tk", ".tidegate/bin"),
    ),
    "script, in a PKGBUILD": (
        {"ticket": SCRIPT, "pkg/aur/PKGBUILD": '  install -Dm755 ticket "$pkgdir/usr/bin/tk"\n'},
        ("tk", "mkdir -p .tidegate/bin && ln -sf ../../ticket .tidegate/bin/tk", ".tidegate/bin"),
    ),
    "script, in a Homebrew formula": (
        {"ticket": SCRIPT, "Formula/ticket.rb": '    bin.install "ticket" => "tk"\n'},
        ("tk", "mkdir -p .tidegate/bin && ln -sf ../../ticket .tidegate/bin/tk", ".tidegate/bin"),
    ),
    "script, in a Debian package": (
        {"run-it": SCRIPT, "debian/install": "cp run-it usr/bin/run-it\n"},
        ("run-it", "", "."),
    ),
    "script, entry point of a Dockerfile": (
        {"serve": SCRIPT, "Dockerfile": 'FROM x\nENTRYPOINT ["/app/serve"]\n'},
        ("serve", "", "."),
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_finds_the_tool_and_how_it_is_built(tmp_path: Path, kind: str) -> None:
    files, (binary, build, folder) = CASES[kind]
    tool = find_tools(write(tmp_path / "tally", files))[0]
    assert (tool.binary, (*tool.build, "")[0], tool.path[0]) == (binary, build, folder)


def test_programs_of_setup_py_that_pip_ignores_are_no_tools(tmp_path: Path) -> None:
    """pip takes them from pyproject.toml if that describes the project, unless it says that they are dynamic."""
    files = {"setup.py": SETUP_PY, "pyproject.toml": '[project]\nname = "tally"\n'}
    assert find_tools(write(tmp_path, files)) == ()
    files["pyproject.toml"] += 'dynamic = ["scripts"]\n'
    assert [tool.binary for tool in find_tools(write(tmp_path, files))] == ["tally"]


DAMAGED = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "CMakeLists.txt",
)


@pytest.mark.parametrize("text", ["", "not toml [", '{"bin": 5}', "[]", "\x00", "(" * 5000])
def test_what_cannot_be_read_is_no_tool(tmp_path: Path, text: str) -> None:
    more = ("CMakeLists.txt", "meson.build", "configure.ac", "Makefile.am")
    assert find_tools(write(tmp_path, dict.fromkeys((*DAMAGED, *more), text))) == ()


MONOREPO = {
    "package.json": '{"name": "all", "private": true, "workspaces": ["src/*"]}',
    "package-lock.json": "{}",
    "src/memory/package.json": '{"name": "@x/memory", "bin": {"mcp-memory": "dist/index.js"},'
    ' "dependencies": {"@modelcontextprotocol/sdk": "^1"}}',
    "src/time/pyproject.toml": '[project]\ndependencies = ["mcp>=1.2"]\n[project.scripts]\nmcp-time = "a:b"\n',
    "src/plain/pyproject.toml": '[project]\ndependencies = ["mcp-less"]\n[project.scripts]\nplain = "a:b"\n',
}


def test_a_monorepo_offers_the_tools_below_and_names_the_servers(tmp_path: Path) -> None:
    tools = find_tools(write(tmp_path, MONOREPO))
    assert [(tool.binary, tool.server) for tool in tools] == [
        ("mcp-memory", True),
        ("plain", False),
        ("mcp-time", True),
    ]
    assert not has_favourite(tmp_path, ".", tools)


def test_a_folder_of_a_monorepo_has_its_own_tool_built_from_the_root(tmp_path: Path) -> None:
    write(tmp_path, MONOREPO)
    assert find_tools(tmp_path, "src/time") == (
        Tool(
            "mcp-time",
            ("python3 -m venv .tidegate/venv", ".tidegate/venv/bin/pip install --quiet ./src/time"),
            (".tidegate/venv/bin",),
            "src/time/pyproject.toml",
            server=True,
        ),
    )
    (memory,) = find_tools(tmp_path, "src/memory")
    assert memory.build[-1].endswith("ln -sf ../../../src/memory/dist/index.js .tidegate/npm/bin/mcp-memory")


def test_workspaces_of_pnpm_and_uv_build_what_a_member_needs_of_the_others(tmp_path: Path) -> None:
    files = {
        "pnpm-workspace.yaml": "packages: [packages/*]\n",
        "packages/tally/package.json": '{"name": "tally", "bin": "dist/cli.js"}',
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["py/*"]\n',
        "py/one/pyproject.toml": '[project]\nname = "one"\ndependencies = ["two>=1"]\n[project.scripts]\none = "a:b"\n',
        "py/two/pyproject.toml": '[project]\nname = "two"\ndependencies = ["three", "one"]\n',
        "py/three/pyproject.toml": '[project]\nname = "three"\n',
        "py/four/pyproject.toml": '[project]\nname = "four"\n',
    }
    builds = {tool.binary: tool.build for tool in find_tools(write(tmp_path, files))}
    assert builds["tally"][:2] == (
        "npx --yes pnpm install",
        "npx --yes pnpm --filter ./packages/tally... run --if-present build",
    )
    assert builds["one"][-1].endswith("install --quiet ./py/one ./py/two ./py/three")


def test_the_tool_that_is_named_like_the_project_is_the_likely_one(tmp_path: Path) -> None:
    scripts = '[project]\nname = "kit"\n[project.scripts]\nhelper = "a:c"\nkit = "a:b"\n'
    tools = find_tools(write(tmp_path / "elsewhere", {"pyproject.toml": scripts}))
    assert [tool.binary for tool in tools] == ["kit", "helper"]
    assert has_favourite(tmp_path / "elsewhere", ".", tools)


def test_a_package_that_bundles_the_sdk_is_a_server_and_its_start_in_readme_is_no_other_tool(tmp_path: Path) -> None:
    server = (
        '{"name": "notes-mcp", "bin": {"notes-mcp": "a.js"}, "devDependencies": {"@modelcontextprotocol/sdk": "1"}}'
    )
    readme = '```json\n{"mcpServers": {"notes": {"command": "node", "args": ["build/a.js"]}}}\n```\n'
    write(tmp_path, {"package.json": server, "README.md": readme, "build/a.js": ""})
    assert [(tool.binary, tool.server) for tool in find_tools(tmp_path)] == [("notes-mcp", True)]


def test_the_tool_that_the_readme_calls_is_the_likely_one(tmp_path: Path) -> None:
    scripts = '[project]\nname = "kit"\n[project.scripts]\nkit = "a:b"\nhelper = "a:c"\n'
    write(tmp_path, {"pyproject.toml": scripts, "README.md": "```sh\n$ helper run\n```\n"})
    tools = find_tools(tmp_path)
    assert [tool.binary for tool in tools] == ["helper", "kit"]
    assert has_favourite(tmp_path, ".", tools)


def test_of_several_tools_that_the_readme_calls_the_most_frequent_is_the_likely_one(tmp_path: Path) -> None:
    scripts = '[project]\nname = "kit"\n[project.scripts]\none = "a:b"\ntwo = "a:c"\n'
    write(tmp_path, {"pyproject.toml": scripts, "README.md": "```sh\n$ one a\n$ two a\n$ two b\n```\n"})
    tools = find_tools(tmp_path)
    assert tools[0].binary == "two"
    assert has_favourite(tmp_path, ".", tools)


@pytest.mark.parametrize(
    ("script", "build"),
    [
        ("pnpm pack-it", "npx --yes -p pnpm -c 'npm run build'"),
        ("bun build a.ts && bun b.ts", "npx --yes -p bun -c 'npm run build'"),
        ("esbuild --bundle", "npm run build"),
    ],
)
def test_a_build_script_gets_the_package_managers_that_it_calls(tmp_path: Path, script: str, build: str) -> None:
    package = f'{{"name": "tally", "bin": "dist/cli.js", "scripts": {{"build": "{script}"}}}}'
    write(tmp_path, {"package.json": package})
    assert find_tools(tmp_path)[0].build[1] == build


def test_a_script_in_the_root_that_readme_calls_by_its_path_is_the_tool(tmp_path: Path) -> None:
    readme = "Run it: `NAME=Ada ./tally file`. To test, run `./run-tests`.\n"
    root = write(tmp_path, {"README.md": readme, "tally": SCRIPT, "run-tests": SCRIPT, "other": SCRIPT})
    assert [tool.binary for tool in find_tools(root)] == ["tally"]


def test_of_several_build_systems_for_one_program_the_first_that_is_installed_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autotools = {"configure.ac": "AC_INIT([tally])\n", "Makefile.am": "bin_PROGRAMS = tally\n"}
    root = write(tmp_path, {"meson.build": "project('tally')\nexecutable('tally', 'a.c')\n", **autotools})
    for here, found_in in (
        (("autoreconf", "make"), "configure.ac"),
        (("meson", "make"), "meson.build"),
        ((), "meson.build"),
    ):
        monkeypatch.setattr("shutil.which", lambda name, here=here: name if name in here else None)
        assert [tool.found_in for tool in find_tools(root)] == [found_in]


def test_a_stale_lock_file_is_left_aside_only_where_npm_says_that_it_is_stale() -> None:
    tool = Tool("tally", ("npm ci --omit=dev", "npm install --global ."), (".",), "package.json")
    assert sure(with_less(tool, "npm error code EUSAGE")).build == ("npm install --omit=dev", "npm install --global .")
    assert with_less(tool, "npm error code E404") is None
    whole = tool._replace(build=("npm ci", "npm run build", "npm install --global ."))
    assert sure(with_less(whole, "npm error code E404")).build == tool.build  # such as a package that is private
    assert with_less(tool._replace(build=("npm install",)), "npm error code EUSAGE") is None


def test_what_a_program_lacks_is_made_by_the_script_that_publishes_or_tests_if_none_builds(tmp_path: Path) -> None:
    for script, command in (("prepublishOnly", "npm run prepublishOnly"), ("test", "npm run test || true")):
        package = f'{{"name": "tally", "bin": "bin/a.js", "scripts": {{"{script}": "jake"}}}}'
        write(tmp_path, {"package.json": package, "bin/a.js": "require('../lib/cjs/parse')\n"})
        assert find_tools(tmp_path)[0].build[:2] == ("npm install", command)
    write(tmp_path, {"lib/cjs/parse.js": ""})
    assert find_tools(tmp_path)[0].build[0] == "npm install --omit=dev"


@pytest.mark.parametrize("parts", ['"main": "lib/tally"', '"files": ["bin", "lib"]'])
def test_a_package_whose_parts_are_not_there_is_made_before_it_is_installed(tmp_path: Path, parts: str) -> None:
    package = f'{{"name": "tally", "bin": "bin/tally", {parts}, "scripts": {{"prepublish": "coffee"}}}}'
    write(tmp_path, {"package.json": package, "bin/tally": "require(path + '/cli')\n"})
    assert find_tools(tmp_path)[0].build[:2] == ("npm install", "npm run prepublish")
    write(tmp_path, {"lib/tally.js": ""})
    assert find_tools(tmp_path)[0].build == ()


def test_modules_that_import_each_other_are_read_once(tmp_path: Path) -> None:
    package = '{"name": "tally", "bin": "bin/tally.js"}'
    files = {"bin/tally.js": "require('../a/x')\n", "a/x.js": "require('../b/y')\n", "b/y.js": "require('../a/x')\n"}
    write(tmp_path, {"package.json": package, **files})
    assert find_tools(tmp_path)[0].build[0] == "npm install --omit=dev"


def test_a_python_build_installs_the_extra_that_is_about_the_command_line_or_that_the_program_asks_for(
    tmp_path: Path,
) -> None:
    scripts = '[project]\nname = "x"\n[project.scripts]\ntally = "a:b"\n'
    write(tmp_path, {"pyproject.toml": f"{scripts}[project.optional-dependencies]\ndocs = []\ncli = ['click']\n"})
    assert find_tools(tmp_path)[0].build[-1].endswith(" '.[cli]'")
    write(tmp_path, {"pyproject.toml": scripts, "uv.lock": ""})
    (tool,) = find_tools(tmp_path)
    told = 'It seems that x is not installed with it.\nRun pip install "x[shell]" to fix this.'
    pip = ".tidegate/venv/bin/pip install --quiet"
    constrained = f"{pip} --constraint .tidegate/pins.txt '.[shell]' || {pip} '.[shell]'"
    assert sure(with_advice(tool, told)).build[-1] == constrained
    assert with_advice(tool, "pip install x") is None


def test_a_server_that_needs_a_module_of_the_older_sdk_gets_that(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": '[project]\nname = "x"\n[project.scripts]\ntally = "a:b"\n'})
    (tool,) = find_tools(tmp_path)
    error = "ModuleNotFoundError: No module named 'mcp.server.fastmcp'"
    pip = ".tidegate/venv/bin/pip install --quiet"
    assert sure(with_older_sdk(tool, error)).build == (*tool.build, f"{pip} 'mcp<2'")
    assert with_older_sdk(tool, "AttributeError: 'Server' object has no attribute 'list_tools'") is not None
    assert with_older_sdk(tool, "ModuleNotFoundError: No module named 'other'") is None
    assert with_older_sdk(tool._replace(build=("make",)), error) is None


def test_errors_of_typescript_do_not_end_a_build_that_writes_the_program() -> None:
    tool = Tool("tally", ("npm ci", "cd cli && npm run build", "npm install --global ."), (".",), "package.json")
    failure = (
        "build on head: `cd cli && npm run build` failed (exit 2): src/a.ts(89,11): error TS18046: 'err' is unknown."
    )
    less = sure(with_less(tool, failure))
    assert less.build == ("npm ci", "cd cli && npm run build || true", "npm install --global .")
    assert with_less(less, failure) is None


def test_a_script_that_fails_is_left_out_of_the_build() -> None:
    tool = Tool("tally", ("npm ci", "npm run build", "npm install --global ."), (".",), "package.json")
    less = with_less(tool, "build on head: `npm run build` failed (exit 1): no tsc")
    assert less is not None
    assert less.build == ("npm ci", "npm install --global .")
    less = with_less(less, "build on head: `npm ci` failed (exit 127): > prepare · sh: 1: pnpm: not found")
    assert less is not None
    run = "npx --yes -p pnpm@9 -p yarn -c 'npm run build --if-present'"
    alone = ("npm ci --ignore-scripts && npm rebuild", run, "npm install --global . --ignore-scripts")
    assert less.build == alone
    whole = tool._replace(build=("npm ci", "npm run build --workspace a", "mkdir -p b && ln -sf a/c b/c"))
    linked = with_less(whole, "build on head: `npm ci` failed (exit 1): husky")
    assert linked is not None
    assert linked.build == ("npm ci --ignore-scripts && npm rebuild", *whole.build[1:])
    assert with_less(less, "build on head: `npm ci --ignore-scripts` failed (exit 1): no network") is None
    for code in ("EBADDEVENGINES", "EBADENGINE"):
        forced = sure(with_less(tool, f"build on head: `npm ci` failed (exit 1): npm error code {code}"))
        assert all(one.startswith("export npm_config_force=true; np") for one in forced.build)


def test_a_script_that_needs_bun_gets_it() -> None:
    run = "npx --yes -p pnpm@9 -p yarn -c 'npm run build --if-present'"
    tool = Tool("tally", ("npm ci --ignore-scripts && npm rebuild", run), (".",), "package.json")
    failure = f"build on head: `{run}` failed (exit 127): sh: 1: bun: not found"
    assert sure(with_less(tool, failure)).build == (tool.build[0], run.replace("--yes", "--yes -p bun"))


@pytest.mark.parametrize("imported", ["..", ".", "../"])
def test_a_package_is_built_if_its_program_imports_the_folder_of_the_package(tmp_path: Path, imported: str) -> None:
    package = '{"name": "tally", "bin": "bin/tally", "scripts": {"build": "rollup"}}'
    write(tmp_path, {"package.json": package, "tally.js": "", "bin/tally": f"#!/bin/sh\nrequire('{imported}')\n"})
    (tmp_path / "bin/tally").chmod(0o755)
    assert "npm run build" in find_tools(tmp_path)[0].build


def test_a_package_is_built_if_its_program_imports_what_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": '{"name": "tally", "bin": "bin/a.mjs", "scripts": {"build": "make"}}'})
    program = {"bin/a.mjs": "import main from './main'\n", "bin/main.mjs": "import tally from '../dist/tally.mjs'\n"}
    write(tmp_path, program)
    assert "npm run build" in find_tools(tmp_path)[0].build
    write(tmp_path, {"dist/tally.mjs": ""})
    assert "npm run build" not in find_tools(tmp_path)[0].build


def test_a_package_is_built_if_its_program_imports_the_package_and_what_that_exports_is_not_there(
    tmp_path: Path,
) -> None:
    package = '{"name": "tally", "bin": "a.mjs", "scripts": {"build": "make"}, "exports": {".": "./dist/tally.mjs"}}'
    write(tmp_path, {"package.json": package, "a.mjs": "import tally from 'tally'\n"})
    assert "npm run build" in find_tools(tmp_path)[0].build
    write(tmp_path, {"dist/tally.mjs": ""})
    assert "npm run build" not in find_tools(tmp_path)[0].build


def test_console_scripts_among_the_entry_points_are_tools(tmp_path: Path) -> None:
    project = '[project]\nname = "kit"\n[project.entry-points.console_scripts]\nkit = "a:b"\n'
    assert find_tools(write(tmp_path, {"pyproject.toml": project}))[0].binary == "kit"


def test_of_programs_that_are_as_likely_and_of_one_build_any_is_the_tool_and_the_others_are_beside_it(
    tmp_path: Path,
) -> None:
    scripts = '[project]\nname = "kit"\n[project.scripts]\none = "a:b"\ntwo = "a:c"\nrelease = "a:d"\n'
    write(tmp_path, {"pyproject.toml": scripts, "cmd/other": "#!/bin/sh\n"})
    tools = find_tools(tmp_path)
    assert has_favourite(tmp_path, ".", tools[:2])
    assert with_beside(tools[0], tools).beside == ("two",)


def test_programs_of_one_build_in_several_folders_are_all_in_path(tmp_path: Path) -> None:
    top = "project(kit)\nadd_subdirectory(a)\nadd_subdirectory(b)\nadd_executable(perf p.c)\n"
    own = "add_executable({0} x.c)\ninstall(TARGETS {0} DESTINATION bin)\n"
    files = {"a/CMakeLists.txt": own.format("kit_a"), "b/CMakeLists.txt": own.format("kit_b"), "CMakeLists.txt": top}
    tools = find_tools(write(tmp_path, files))
    tool = with_beside(tools[0], tools)
    assert (tool.binary, tool.beside) == ("kit_a", ("kit_b",))
    others = [tools[0], *(tools[0]._replace(binary=name) for name in ("genkit", "gen.sh", "prettify", "run_tests"))]
    assert with_beside(tools[0], others).beside == ("genkit", "prettify")
    assert tool.path == (".tidegate/cmake/a", ".tidegate/cmake/b")
    assert has_favourite(tmp_path, ".", tools)


def test_programs_that_cmake_installs_are_built_together_and_a_name_is_the_last_one_before_it(tmp_path: Path) -> None:
    content = (
        "set(TOP kit)\nproject(${TOP})\nset(name kit-static)\nadd_library(${name} a.c)\n"
        "set_target_properties(${name} PROPERTIES OUTPUT_NAME kit_static)\n"
        "set(name ${TOP})\nadd_executable(${name} a.c)\nadd_executable(more b.c)\nadd_executable(sample c.c)\n"
        "set(name later)\ninstall(TARGETS kit more DESTINATION bin)\n"
    )
    tools = find_tools(write(tmp_path, {"CMakeLists.txt": content}))
    assert [tool.binary for tool in tools] == ["kit", "more"]  # what is not installed is not the product
    assert tools[0].build[-1].endswith("--target kit more")
    assert with_beside(tools[0], tools).beside == ("more",)


def test_a_makefile_s_program_is_made_after_what_comes_before_it_in_all(tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    write(tally, {"Makefile": "all: objects tally docs\nobjects:\n\tmkdir o\ntally: a.c\n\tcc a.c\ndocs:\n\tman\n"})
    assert find_tools(tally)[0].build == ("make objects tally",)


def test_programs_that_a_makefile_installs_are_built_together_and_a_library_is_none(tmp_path: Path) -> None:
    rules = "all: libkit.so kit more\nlibkit.so: kit.o\nkit: kit.o\nmore: more.o\n"
    root = write(tmp_path / "kit", {"Makefile": f"{rules}install:\n\tinstall -m755 kit more $(BINDIR)\n"})
    kit, more = find_tools(root)
    assert kit.build == more.build == ("make libkit.so kit more",)


def test_a_variable_for_a_folder_names_no_program_of_a_makefile(tmp_path: Path) -> None:
    makefile = "BIN = bin\nTALLY = tally\nTALLY_EXEC = $(BIN)/$(TALLY)\n$(BIN):\n\tmkdir $(BIN)\nall: $(TALLY_EXEC)\n"
    (tool, *_) = find_tools(write(tmp_path, {"Makefile": makefile}))
    assert (tool.binary, tool.path) == ("tally", ("bin",))


@pytest.mark.parametrize("file", ["pyproject.toml", "package.json"])
def test_a_program_that_readme_tells_clients_to_start_is_a_server_without_any_sdk(tmp_path: Path, file: str) -> None:
    programs = {
        "pyproject.toml": '[project]\nname = "notes"\nscripts = {notes-mcp = "a:b", notes = "a:c"}\n',
        "package.json": '{"name": "notes", "bin": {"notes-mcp": "a.js", "notes": "b.js"}}',
    }
    readme = '```json\n{"mcpServers": {"notes": {"command": "notes-mcp"}}}\n```\n'
    for name, content in ((file, programs[file]), ("README.md", readme)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert {tool.binary: tool.server for tool in find_tools(tmp_path)} == {"notes-mcp": True, "notes": False}


def test_an_interpreter_that_is_not_installed_is_named(tmp_path: Path) -> None:
    lines = {"a": "#!/no-such-folder/gawk -f\n", "b": "#!/bin/sh\n", "c": "#!\n", "d": "plain\n"}
    write(tmp_path, lines)
    assert [lacking_interpreter(tmp_path / name) for name in (*lines, "e")] == ["/no-such-folder/gawk", "", "", "", ""]
