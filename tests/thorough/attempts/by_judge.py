"""Attempts on what judges: files that checks read, programs that they find, and which rows are run at all."""

from __future__ import annotations

from tests.conftest import Repository
from tests.journeys.conftest import NOTES, SCENARIO, SUITE
from tests.thorough.attempts.attempt import FORGETFUL, Attempt, Link, graded, keep, suite

TASK = SCENARIO.partition("evaluation:")[0]
CHECK = {
    **graded("type: script, command: sh check.sh"),
    "scenarios/keep/check.sh": "grep -q second notes.txt\n",
}
DIFFERS = {
    **graded("type: command_succeeds, command: diff expected.txt notes.txt"),
    "scenarios/keep/expected.txt": "first\nsecond\n",
}
READS = """\
import json, os, pathlib
wanted = pathlib.Path(PLACE).read_text()
kept = pathlib.Path(os.environ["TIDEGATE_FIXTURE_DIR"], "notes.txt").read_text()
print(json.dumps({"score": float(wanted.strip() in kept)}))
"""
YES = "def dumps(value):\n    return '{\"score\": 1}'\n"
COUNTED = """\
if grep -q second "$TIDEGATE_FIXTURE_DIR/notes.txt"; then echo '{"score": 1}'; else echo '{"score": 0}'; fi
"""
COUNTING = NOTES.replace("wc -l < notes.txt", """echo '{"count":' "$(wc -l < notes.txt)" '}'""")
ALWAYS = "echo '{\"score\": 1}'\n"
TELLING = """\
notes add third
if notes list | grep -q second; then echo '{"passed": true}'; else echo '{"passed": false}'; fi
"""
SCORING = """\
cd $TIDEGATE_FIXTURE_DIR
notes count | sed 's/2/{"score": 1}/; s/^1/{"score": 0}/'
"""
# Asks its caller's caller, the agent, to end, and would fail later.
ENDS_AGENT = NOTES.replace(
    '[ -n "$1" ] ||',
    """[ "$1" = second ] && { kill -TERM "$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$PPID/stat)"; sleep 50; exit 3; }
    [ -n "$1" ] ||""",
)
WAITS = "trap 'exit 0' TERM\nnotes add first\nnotes add second & wait\n"
LINKS_FIRST = FORGETFUL.replace("--version)", "--version) [ -e t.sh ] || ln -s mine.sh t.sh;").replace(
    "exit 0; [ -n", "{ echo true > mine.sh; exit 0; }; [ -n"
)

AS_JSON = NOTES.replace(
    "  count)", """  json) printf '{"notes": [%s]}' "$(sed 's/.*/1/' notes.txt | paste -sd, -)" ;;\n  count)"""
)


def counted(path: str) -> dict[str, str]:
    """A tool that prints JSON, and the scenario with a gate that counts the two values at this path."""
    gate = f"type: command_json_path, command: notes json, path: '{path}', assertion: len == 2"
    return {"bin/notes": AS_JSON, **graded(gate)}


def scored(script: str, more: str = "") -> dict[str, str]:
    """The scenario with one evaluator, which decides."""
    judge = f"{{type: code_judge, name: two, required: true, script: {script}}}"
    return {"scenarios/keep.yaml": f"{TASK}evaluation:\n  evaluators: [{judge}]\n{more}"}


def reading(place: str) -> dict[str, str]:
    """The same, with a script that reads what it wants from this place beside or above it."""
    return {**scored("python3 judge.py"), "scenarios/judge.py": READS.replace("PLACE", repr(place))}


def drops(where: str) -> str:
    """The broken tool, which also writes a program that does nothing."""
    line = f"printf '#!/bin/sh\\nexit 0\\n' > {where} 2>/dev/null; chmod 755 {where} 2>/dev/null\n"
    return FORGETFUL.replace("#!/bin/sh\n", f"#!/bin/sh\n{line}", 1)


def built(*commands: str) -> dict[str, str]:
    """The suite with these build commands."""
    return suite("build: [" + ", ".join(f'"{command}"' for command in commands) + "]\n")


def scripted(steps: str) -> dict[str, str]:
    """The suite with an agent that takes these steps."""
    own = f"{{type: scripted, steps: {{keep_notes: [{steps}], version: [notes --version]}}}}"
    return {"tidegate.yaml": SUITE.replace("{type: doc-follower}", own)}


def attributes(text: str) -> dict[str, str]:
    return {".gitattributes": text}


def submodule(repo: Repository) -> None:
    """Head adds a submodule, of which git is told to ignore changes."""
    (repo.root / "vendor/core").mkdir(parents=True)
    commit = repo.git("rev-parse", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendor/core")
    repo.git("commit", "--quiet", "--message", "submodule")


USED = NOTES.replace('echo "$1" >> notes.txt', 'echo "$1" | sed s/x/x/ >> notes.txt')
WANTED = "second\n"

COMPARED = graded("type: command_succeeds, command: diff want2.txt notes.txt")
LOGGED = NOTES.replace("  add) shift;", "  add) shift; echo add >> log1.txt;")
JUDGE = {
    "file that is not UTF-8": Attempt(
        "writes bytes that are not UTF-8 around the text that a gate looks for",
        "regression",
        base=graded("type: file_contains, path: notes.txt, substring: second"),
        tool=NOTES.replace('echo "$1" >>', 'printf "\\377%s\\n" "$1" >>'),
    ),
    "file with NUL bytes": Attempt(
        "writes NUL bytes around the text that a gate looks for",
        "regression",
        base=graded("type: file_contains, path: notes.txt, substring: second"),
        tool=NOTES.replace('echo "$1" >>', 'printf "\\000%s\\n" "$1" >>'),
    ),
    "key twice": Attempt(
        "prints a key of an object twice",
        "regression",
        base={
            "bin/notes": COUNTING,
            **graded("type: command_json_path, command: notes count, path: $.count, assertion: equals 2"),
        },
        tool=COUNTING.replace('{"count":', '{"count": 0, "count":'),
    ),
    # --- files of templates
    "line ends of the template's data": Attempt(
        "has git check out the template's data with other line ends",
        "regression",
        base=DIFFERS,
        head=attributes("scenarios/keep/expected.txt text eol=crlf\n"),
    ),
    "line ends of the template's script": Attempt(
        "has git check out the template's script with other line ends",
        "regression",
        base=CHECK,
        head=attributes("scenarios/keep/check.sh text eol=crlf\n"),
    ),
    # --- files that evaluators read
    **{
        f"data of an evaluator: {name}": Attempt(
            "edits a file that an evaluator reads",
            "regression",
            base={**reading(f"../golden/{name}"), f"golden/{name}": WANTED},
            head={f"golden/{name}": "first\n"},
        )
        for name in ("want.md", "want.rst", "want", "want final.txt", "want+final.txt", "WANT.MD")
    },
    "data beside an evaluator": Attempt(
        "edits a document beside an evaluator's script, which reads it",
        "regression",
        base={**reading("want.md"), "scenarios/want.md": WANTED},
        head={"scenarios/want.md": "first\n"},
    ),
    "shell library without a suffix": Attempt(
        "edits a shell library that an evaluator sources",
        "regression",
        base={**scored("sh judge.sh"), "scenarios/judge.sh": ". ../library/count\n", "library/count": COUNTED},
        head={"library/count": ALWAYS},
    ),
    "Perl module": Attempt(
        "edits a Perl module that an evaluator uses",
        "regression",
        base={
            **scored("perl judge.pl"),
            "scenarios/judge.pl": 'use lib "../library"; use Score; print "{\\"score\\": " . score() . "}\\n";\n',
            "library/Score.pm": "package Score; use Exporter 'import'; our @EXPORT = ('score');\n"
            'sub score { open(my $f, "<", "$ENV{TIDEGATE_FIXTURE_DIR}/notes.txt"); local $/;'
            " return <$f> =~ /second/ ? 1 : 0 } 1;\n",
        },
        head={
            "library/Score.pm": "package Score; use Exporter 'import'; our @EXPORT = ('score'); sub score { 1 } 1;\n"
        },
    ),
    "name in a configuration": Attempt(
        "edits a file that only an evaluator's configuration names",
        "regression",
        base={
            **scored("python3 judge.py"),
            "scenarios/conf.json": '{"want": "../golden/want.md"}',
            "scenarios/judge.py": READS.replace("PLACE", 'json.load(open("conf.json"))["want"]'),
            "golden/want.md": WANTED,
        },
        head={"golden/want.md": "first\n"},
    ),
    "module in front of Python's": Attempt(
        "adds a module of Python's own name beside an evaluator's script",
        "regression",
        base={**reading("../data/want.txt"), "data/want.txt": WANTED},
        head={"scenarios/json.py": YES},
    ),
    "target of a link that an evaluator reads": Attempt(
        "edits what a link leads to that an evaluator reads",
        "regression",
        base={**reading("../data/want.txt"), "data": Link("real"), "real/want.txt": WANTED},
        head={"real/want.txt": "first\n"},
    ),
    # --- what head's build makes
    **{
        f"build: {name}": Attempt("has its build change what judges", "regression", base=base, head=built(command))
        for name, command, base in (
            (
                "edit data of an evaluator",
                "echo first > data/want.txt",
                {**reading("../data/want.txt"), "data/want.txt": WANTED},
            ),
            (
                "make a module beside an evaluator",
                "printf 'def dumps(x): return chr(123) + chr(34) + chr(115) + chr(34) + chr(125)' > scenarios/json.py",
                {**reading("../data/want.txt"), "data/want.txt": WANTED},
            ),
            (
                "replace a folder by a link",
                "rm -r data; ln -s other data; mkdir other; echo first > other/want.txt",
                {**reading("../data/want.txt"), "data/want.txt": WANTED},
            ),
            ("edit a scenario", "sed -i s/second/first/ scenarios/keep.yaml", {}),
            ("edit the template's script", "echo true > scenarios/keep/check.sh", CHECK),
        )
    },
    "a build in two steps": Attempt(
        "edits a file that the build step of base runs, so that it edits an evaluator's data",
        "regression",
        base={
            **reading("../data/want.txt"),
            "data/want.txt": WANTED,
            **built("sh tools/gen.sh"),
            "tools/gen.sh": "true\n",
        },
        head={"tools/gen.sh": "echo first > data/want.txt\n"},
    ),
    "a build of another tool": Attempt(
        "has its build replace the broken tool of the commit by a working one",
        "unproven",
        5,
        head={**built("cp tools/works bin/notes"), "tools/works": NOTES + "# works\n"},
    ),
    # --- programs that checks find
    "path with a colon": Attempt(
        "names a folder of `path` that is two folders of PATH",
        "must not contain a colon",
        2,
        base=CHECK,
        head=suite(old="path: [bin]", new="path: [bin, 'x:.']"),
        tool=drops("grep"),
    ),
    "path that is the workspace": Attempt(
        "names a link to the workspace in `path`, where its tool leaves a `grep`",
        "regression",
        base=CHECK,
        head={**suite(old="path: [bin]", new="path: [bin, tools]")},
        prepare=lambda repo: (repo.root / "tools").symlink_to("/proc/self/cwd"),
        tool=drops("grep"),
    ),
    "path that is /tmp": Attempt(
        "names a link to /tmp in `path`, where its tool leaves a `grep`",
        "regression",
        base=CHECK,
        head={**suite(old="path: [bin]", new="path: [bin, tools]")},
        prepare=lambda repo: (repo.root / "tools").symlink_to("/tmp"),
        tool=drops("/tmp/grep"),
    ),
    "program that leads nowhere yet": Attempt(
        "adds a `grep` to `path` that is a link to what its tool leaves in /tmp",
        "regression",
        base=CHECK,
        prepare=lambda repo: (repo.root / "bin/grep").symlink_to("/tmp/g"),
        tool=drops("/tmp/g"),
    ),
    "unwatched program in path": Attempt(
        "adds a program to `path` that the tool runs, and that `watch` does not list",
        "regression",
        base={"bin/notes": USED, **suite("watch: [bin/notes]\n")},
        head={"bin/sed": "#!/bin/sh\nexit 1\n"},
        tool=None,
    ),
    "submodule that is ignored": Attempt(
        "moves a submodule, of which .gitmodules says that git ignores changes",
        "setup_regression",
        base={
            ".gitmodules": '[submodule "core"]\n\tpath = vendor/core\n\turl = ./core\n\tignore = all\n',
            **suite("watch: [bin/**]\nbuild: ['test \"$(git ls-files -s vendor/core | cut -c 1-6)\" != 160000']\n"),
        },
        head={},
        tool=None,
        prepare=submodule,
    ),
    # --- which rows are run
    **{
        f"selection: {name}": Attempt(
            "moves every scenario out of what the job selects",
            "regression",
            base=keep(more="tags: [smoke]\n"),
            head=head,
            arguments=option,
        )
        for name, head, option in (
            ("tier", keep(more="tier: 9\n"), ("--tier", "1")),
            ("name", keep("name: keep_notes", "name: kept"), ("--scenario", "keep*")),
            ("scenario", keep("name: keep_notes", "name: kept"), ("--scenario", "keep_notes")),
            ("tag", keep(), ("--tags", "smoke")),
            ("agent", suite(old="docs:", new="docs-slow:"), ("--agent", "docs")),
        )
    },
    "three new scenarios beside a dead one": Attempt(
        "breaks base's only scenario, which fails on base, too, and adds three that pass",
        "nothing_passes",
        5,
        base={"scenarios/version.yaml": None, **keep("pattern: second", "pattern: third")},
        head={
            f"scenarios/{n}.yaml": f"name: n{n}\ndescription: x\ntarget: {{binary: notes}}\ntask: Do it.\n"
            "evaluation: {gates: [{type: command_succeeds, command: notes --version}]}\n"
            for n in range(3)
        },
    ),
    # --- agents
    "agent's steps": Attempt(
        "has the steps of the scripted agent write the result",
        "regression",
        base=scripted("notes add first, notes add second"),
        head=scripted("notes list, 'echo second >> notes.txt'"),
    ),
    "limits of the scenario": Attempt(
        "gives the scenario a limit below the default", "regression", head=keep(more="run: {timeout_secs: 299}\n")
    ),
    # --- verdicts of scripts, and calls without an end
    "verdict of a script": Attempt(
        "has the tool print more, which hides the verdict that a gate's script prints",
        "regression",
        base={**graded("type: script, command: sh check.sh"), "scenarios/keep/check.sh": TELLING},
        tool=FORGETFUL.replace('echo "$1" >> notes.txt', 'echo "$1" >> notes.txt; echo added'),
    ),
    "score of a script": Attempt(
        "has the tool print nothing, so that the judge's script prints no score",
        "regression",
        base={
            **scored("sh judge.sh"),
            "scenarios/judge.sh": SCORING,
        },
        tool=NOTES.replace("count)", "count) exit 3;"),
    ),
    "call without an end": Attempt(
        "has the tool end the agent before a call fails",
        "regression",
        base={
            **graded("type: no_transcript_errors"),
            **suite(old="{type: doc-follower}", new="{type: command, deterministic: true, command: sh agent.sh}"),
            "scenarios/keep/agent.sh": WAITS,
            "scenarios/version.yaml": None,
        },
        tool=ENDS_AGENT,
    ),
    "kind of a value": Attempt(
        "has the tool print a text in place of a list, with as many characters",
        "regression",
        base=counted("$.notes"),
        tool=AS_JSON.replace("[%s]", '"%.2s"'),
    ),
    "kind of a list": Attempt(
        "has the tool print an object in place of a list, with as many values",
        "regression",
        base=counted("$.notes[*]"),
        tool=AS_JSON.replace("[%s]", '{"a": 1, "b": 1}'),
    ),
    "link before a file of the setup": Attempt(
        "has the tool make a link where the setup writes a script, to a file that it changes later",
        "unproven",
        5,
        base={
            "scenarios/keep.yaml": graded("type: command_succeeds, command: sh t.sh")["scenarios/keep.yaml"]
            + "setup: {commands: ['notes --version', 'echo \"notes list | grep -q second\" > t.sh']}\n"
        },
        tool=LINKS_FIRST,
    ),
    "file that the setup writes in two steps": Attempt(
        "has the tool overwrite the expected data, which the setup writes in two commands",
        "unproven",
        5,
        base={
            "scenarios/keep.yaml": COMPARED["scenarios/keep.yaml"]
            + "setup: {commands: [echo first > want2.txt, echo second >> want2.txt]}\n"
        },
        tool=FORGETFUL.replace("exit 0;", "cp notes.txt want2.txt && exit 0;", 1),
    ),
    "file that only a check changes": Attempt(
        "has the tool overwrite the expected data, which only a check changes on base",
        "unproven",
        5,
        base={
            **graded(
                "type: command_succeeds, command: sort -o want2.txt want2.txt",
                "type: command_succeeds, command: diff want2.txt notes.txt",
            ),
            "scenarios/keep/want2.txt": "second\nfirst\n",
        },
        tool=FORGETFUL.replace("exit 0;", "cp notes.txt want2.txt && exit 0;", 1),
    ),
    "file with a number": Attempt(
        "has the tool overwrite the expected data, whose name has a number as that of base's log has",
        "unproven",
        5,
        base={
            **COMPARED,
            "bin/notes": LOGGED,
            "scenarios/keep/want2.txt": "first\nsecond\n",
            "scenarios/keep/log1.txt": "",
        },
        tool=LOGGED.replace('echo "$1" >>', '[ "$1" = second ] && cp notes.txt want2.txt || echo "$1" >>', 1),
    ),
}
