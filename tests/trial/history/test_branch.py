"""Base's history on a branch: real repositories, a bare one as `origin`, and others that write there too."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Repository
from tidegate.history import branch
from tidegate.history.branch import MARKER, MAX_BYTES, NotKeptError, Origin, copy_to, fetch, write
from tidegate.history.store import DAY, History
from tidegate.model.measurement import PastTrial
from tidegate.model.plan import RowKey
from tidegate.model.suite import Store

NOW = time.time()
KEY = RowKey(scenario="docs", agent="claude")
PRINTS = {KEY: "f1"}
LIMITS = Store(type="branch", max_trials=40, max_days=10)
NAME = LIMITS.name
JOB = Origin(writes=True)


def past(age: float, scenario: str = "docs") -> PastTrial:
    return PastTrial(scenario=scenario, agent="claude", decides="pass", at=NOW - age * DAY, sha="c0ffee")


def adding(*trials: PastTrial) -> Callable[[History], None]:
    return lambda history: history.add(PRINTS, trials)


@pytest.fixture
def origin(tmp_path: Path, make_repository: Callable[..., Repository]) -> Repository:
    """The bare repository of the project."""
    seed = make_repository("seed")
    seed.commit({"README.md": "a project"})
    bare = Repository(tmp_path / "origin.git")
    bare.git("config", "core.bare", "true")
    bare.git("config", "receive.denyCurrentBranch", "ignore")
    seed.git("push", "--quiet", str(bare.root), "main")
    return bare


@pytest.fixture
def clone(origin: Repository, tmp_path: Path) -> Callable[[str], Repository]:
    """A job's checkout: shallow, as actions/checkout leaves it."""

    def make(name: str) -> Repository:
        repo = Repository(tmp_path / name)
        repo.git("remote", "add", "origin", f"file://{origin.root}")
        repo.git("fetch", "--quiet", "--depth=1", "origin", "main")
        repo.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
        return repo

    return make


def add(repo: Repository, *trials: PastTrial, origin: Origin | None = JOB) -> None:
    write(repo.root, LIMITS, origin, adding(*trials), NOW)


def read(repo: Repository, folder: Path) -> tuple[tuple[PastTrial, ...], tuple[str, ...]]:
    assert fetch(repo.root, NAME, JOB) is None
    problems = copy_to(repo.root, NAME, folder, JOB)
    found = History(folder, LIMITS, NOW).read(PRINTS)
    return found.trials, (*problems, *found.warnings)


def by_hand(clone: Callable[[str], Repository], change: Callable[[Repository], None]) -> None:
    """A person who may push changes the branch."""
    person = clone("person")
    person.git("fetch", "--quiet", "origin", NAME)
    person.git("checkout", "--quiet", "-B", NAME, "FETCH_HEAD")
    change(person)
    person.git("add", "--all")
    person.git("commit", "--quiet", "--message", "by hand")
    person.git("push", "--quiet", "origin", NAME)


def test_what_one_job_adds_another_reads_and_no_work_tree_has_it(
    clone: Callable[[str], Repository], origin: Repository, tmp_path: Path
) -> None:
    writer, reader = clone("writer"), clone("reader")
    assert read(reader, tmp_path / "r") == ((), ())

    add(writer, past(2))
    add(writer, past(1))

    assert read(reader, tmp_path / "r") == ((past(2), past(1)), ())
    assert origin.git("rev-list", "--count", NAME) == "2"
    assert origin.git("log", "--format=%an", "-1", NAME) == "tidegate"
    for repo in (writer, reader):
        assert repo.git("status", "--porcelain") == ""
        assert repo.git("rev-parse", "HEAD") == origin.git("rev-parse", "main"), "the branch is an orphan"


@pytest.mark.parametrize("shallow", [True, False])
def test_a_clone_stays_as_shallow_or_as_whole_as_it_was(
    shallow: bool, clone: Callable[[str], Repository], origin: Repository
) -> None:
    job = clone("job")
    if not shallow:
        job.git("fetch", "--quiet", "--unshallow", "origin", "main")
    commits = job.git("rev-list", "--count", "HEAD")
    add(clone("other"), past(3))
    add(clone("another"), past(2))

    add(job, past(1))
    assert fetch(job.root, NAME, JOB) is None

    assert job.git("rev-parse", "--is-shallow-repository") == str(shallow).lower()
    assert job.git("rev-list", "--count", f"refs/remotes/origin/{NAME}") == ("1" if shallow else "3")
    assert job.git("rev-list", "--count", "HEAD") == commits
    assert origin.git("rev-list", "--count", NAME) == "3"
    settings = job.git("config", "--list", "--local")
    assert "promisor" not in settings
    assert "partialclone" not in settings


def test_the_same_once_more_makes_no_commit(clone: Callable[[str], Repository], origin: Repository) -> None:
    writer = clone("writer")
    add(writer, past(1))
    add(writer, past(1))
    assert origin.git("rev-list", "--count", NAME) == "1"


def test_writers_at_the_same_time_lose_nothing(clone: Callable[[str], Repository], tmp_path: Path) -> None:
    clones = [clone(f"writer{number}") for number in range(4)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: add(one[1], past(one[0] + 1), past(one[0] + 1.5)), enumerate(clones)))
    trials, problems = read(clone("reader"), tmp_path / "r")
    assert (len(trials), problems) == (8, ())


def test_who_was_overtaken_begins_again_on_what_is_there_now(
    clone: Callable[[str], Repository], tmp_path: Path
) -> None:
    slow, fast = clone("slow"), clone("fast")
    add(fast, past(3))
    seen: list[int] = []

    def overtaken(history: History) -> None:
        seen.append(len(history.read(PRINTS).trials))
        if len(seen) == 1:
            add(fast, past(2))
        adding(past(1))(history)

    write(slow.root, LIMITS, JOB, overtaken, NOW)

    assert seen == [1, 2]
    assert read(slow, tmp_path / "r") == ((past(3), past(2), past(1)), ())


def test_it_is_capped_by_count_and_by_age_and_what_is_foreign_is_left_alone(
    clone: Callable[[str], Repository], origin: Repository
) -> None:
    writer = clone("writer")
    add(writer, past(1))
    write(writer.root, LIMITS, JOB, lambda history: history.add({KEY: "0d"}, [past(9)]), NOW)
    by_hand(clone, lambda person: person.write({"README.md": "what this branch is", "history/notes.txt": "mine"}))

    limits = LIMITS.model_copy(update={"max_trials": 2})
    write(writer.root, limits, JOB, adding(past(0.5), past(0.2)), NOW + 2 * DAY)

    files = origin.git("ls-tree", "-r", "--name-only", NAME).split()
    assert files == ["README.md", "history/f1.jsonl", "history/notes.txt", MARKER]
    assert len(origin.git("show", f"{NAME}:history/f1.jsonl").splitlines()) == 2


def test_poisoned_entries_are_ignored_and_said_and_gone_with_the_next_commit(
    clone: Callable[[str], Repository], tmp_path: Path
) -> None:
    writer = clone("writer")
    add(writer, past(2), past(1))

    def poison(person: Repository) -> None:
        file = person.root / "history/f1.jsonl"
        first, second = file.read_text().splitlines()
        file.write_text(f"{first.replace('pass', 'perhaps')}\n{second}\nno entry\n")

    by_hand(clone, poison)

    trials, (said,) = read(writer, tmp_path / "r")
    assert trials == (past(1),)
    assert "2 ignored: damaged" in said
    add(writer, past(0.5))
    assert read(writer, tmp_path / "r") == ((past(1), past(0.5)), ())


def test_links_strange_names_and_large_files_never_reach_the_folder(
    clone: Callable[[str], Repository], tmp_path: Path
) -> None:
    writer = clone("writer")
    add(writer, past(1))

    def strange(person: Repository) -> None:
        (person.root / "history/abc.jsonl").symlink_to("/etc/passwd")
        person.write({"history/x/../../no.txt": "", "history/versions.json.sh": "#!/bin/sh"})
        person.write({"history/b.jsonl": "x" * (MAX_BYTES + 1)})

    by_hand(clone, strange)

    trials, (said,) = read(writer, tmp_path / "r")
    assert trials == (past(1),)
    assert "1 files of the branch" in said
    assert sorted(p.name for p in (tmp_path / "r").rglob("*") if not p.is_dir()) == ["f1.jsonl", MARKER]


def test_a_branch_that_is_no_history_is_neither_read_nor_written(
    clone: Callable[[str], Repository], origin: Repository, tmp_path: Path
) -> None:
    origin.git("branch", NAME, "main")
    job = clone("job")
    trials, (said,) = read(job, tmp_path / "r")
    assert trials == ()
    assert "not a history" in said
    with pytest.raises(NotKeptError, match="not a history"):
        add(job, past(1))
    assert origin.git("rev-parse", NAME) == origin.git("rev-parse", "main")


def test_a_token_that_may_not_push_is_said_at_once(clone: Callable[[str], Repository], origin: Repository) -> None:
    hook = origin.root / ".git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'Write access to repository not granted.' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(NotKeptError, match="may not push to the branch") as error:
        add(clone("job"), past(1))
    assert "contents: write" in error.value.advice


def test_a_push_without_an_answer_is_not_repeated(
    clone: Callable[[str], Repository], origin: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = clone("job")
    add(job, past(2))
    hook = origin.root / ".git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho asked >> asked\nsleep 30\n")
    hook.chmod(0o755)
    monkeypatch.setattr(branch, "PATIENCE_S", 6.0)

    with pytest.raises(NotKeptError, match="1 times tried: no answer in time"):
        add(job, past(1))

    assert (origin.root / ".git/asked").read_text() == "asked\n"


def test_who_deletes_the_branch_begins_anew(
    clone: Callable[[str], Repository], origin: Repository, tmp_path: Path
) -> None:
    job = clone("job")
    add(job, past(2))
    assert read(job, tmp_path / "r") == ((past(2),), ())
    origin.git("branch", "--quiet", "--delete", "--force", NAME)
    assert read(job, tmp_path / "r") == ((), ())
    add(job, past(1))
    assert read(job, tmp_path / "r") == ((past(1),), ())


def test_a_job_goes_by_what_origin_has_whatever_its_own_clone_has(
    clone: Callable[[str], Repository], tmp_path: Path
) -> None:
    job = clone("job")
    add(job, past(3), origin=None)
    add(clone("other"), past(2))

    add(job, past(1))

    assert read(job, tmp_path / "r") == ((past(2), past(1)), ())
    job.git("remote", "set-url", "origin", "file:///nowhere")
    assert "is used as it was last fetched" in (fetch(job.root, NAME, JOB) or "")
    assert copy_to(job.root, NAME, tmp_path / "s", JOB) == ()
    assert (tmp_path / "s/history/f1.jsonl").is_file()


def test_an_origin_that_is_not_there_is_a_sentence_and_no_error(clone: Callable[[str], Repository]) -> None:
    job = clone("job")
    job.git("remote", "set-url", "origin", "file:///nowhere")
    assert "could not be fetched" in (fetch(job.root, NAME, JOB) or "")
    with pytest.raises(NotKeptError, match="could not be fetched"):
        add(job, past(1))


def test_who_may_not_write_writes_nothing(clone: Callable[[str], Repository], origin: Repository) -> None:
    with pytest.raises(NotKeptError, match="none of the default branch's"):
        add(clone("job"), past(1), origin=Origin())
    assert NAME not in origin.git("branch")


def test_at_home_it_is_the_repository_s_own_branch_and_two_processes_lose_nothing(
    clone: Callable[[str], Repository], origin: Repository, tmp_path: Path
) -> None:
    home = clone("home")
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda age: add(home, past(age), origin=None), (1, 2, 3)))
    copy_to(home.root, NAME, tmp_path / "r")
    assert len(History(tmp_path / "r", LIMITS, NOW).read(PRINTS).trials) == 3
    assert NAME not in origin.git("branch")
    home.git("push", "--quiet", "origin", NAME)
    assert len(read(clone("other"), tmp_path / "r")[0]) == 3
