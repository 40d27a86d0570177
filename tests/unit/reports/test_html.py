"""report.html as a file: what is in it, how large it gets, and that no data becomes markup. test_browser opens it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

from tests.packed import opened
from tidegate.model.cause import Cause, ChangedLine, Place
from tidegate.model.event import Message
from tidegate.model.measurement import TrialResult
from tidegate.model.result import Result
from tidegate.model.trial import Record
from tidegate.reports.html import MAX_BYTES, page_view, render_html

Stories = Mapping[str, Callable[[], Result]]


def rendered(result: Result, read: Callable[[TrialResult], Record] = lambda _: Record()) -> str:
    return render_html(result, read, {"base": "runs/base", "head": "runs/head"})


class Blocks(HTMLParser):
    """Every tag of a page, and the text of its scripts by their id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[self._inside] = self.texts.get(self._inside, "") + data


def data(page: str) -> Any:
    return opened(Blocks(page).texts["data"])


def records(page: str) -> dict[str, Any]:
    return {
        name: record for _, block in json.loads(Blocks(page).texts["records"]) for name, record in opened(block).items()
    }


def hostile_cause(result: Result) -> Cause:
    text = "</p><script>alert(1)</script>"
    place = Place(side="head", path=text, line=1, text=text)
    return Cause(
        kind="option",
        about=(text,),
        names=(text,),
        rows=(result.rows[0].key,),
        edits=(ChangedLine(removed=place, added=place),),
        still_named=(place,),
    )


def test_every_story_has_a_page_and_every_row_is_in_it(story: tuple[str, Result]) -> None:
    _, result = story
    page = rendered(result)
    assert len(data(page)["rows"]) == len(result.rows)


def test_no_data_becomes_markup(stories: Stories) -> None:
    """The hostile page has no tag and no attribute that a calm one does not have, and as many scripts."""
    evil = stories["hostile"]()
    record = Record(
        events=(Message(text="</script><script>alert(1)</script><!--"),), diff="<img src=x onerror=alert(1)>"
    )
    evil = evil.model_copy(update={"causes": (hostile_cause(evil),)})
    calm, hostile = Blocks(rendered(stories["one_regression"]())), Blocks(rendered(evil, lambda _: record))
    known = {(tag, *attributes) for tag, attributes in calm.tags}
    assert {(tag, *attributes) for tag, attributes in hostile.tags} <= known
    assert [tag for tag, _ in hostile.tags].count("script") == 3
    assert "<" not in hostile.texts["data"] + hostile.texts["records"]


def test_nothing_hidden_is_in_the_texts(stories: Stories) -> None:
    page = rendered(stories["hostile"](), lambda _: Record(events=(Message(text="\x1b[2J\u202e"),)))
    texts = [json.dumps(data(page), ensure_ascii=False), json.dumps(records(page), ensure_ascii=False), page]
    assert not any(sign in text for text in texts for sign in ("\x1b", "\u202e", "\u200b", "\\u001b"))


def test_only_our_own_script_and_style_may_be_used(stories: Stories) -> None:
    page = Blocks(rendered(stories["one_regression"]()))
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "Security" in str(a.get("http-equiv")))
    assert policy is not None
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_the_page_names_no_other_host(stories: Stories) -> None:
    page = rendered(stories["one_regression"]())
    assert set(re.findall(r"https?://[^\s\"'`)]+", page)) == {"http://www.w3.org/2000/svg"}


def test_a_record_is_kept_whole(stories: Stories) -> None:
    result = stories["one_regression"]()
    page = rendered(
        result, lambda trial: Record(events=(Message(text=trial.id),), diff="+x", problem="line 3 is damaged")
    )
    found = records(page)
    assert list(found) == [trial.id for trial in result.trials]
    first = found[result.trials[0].id]
    assert first["steps"][0]["text"] == result.trials[0].id
    assert first["diff"] == "+x"
    assert first["warnings"] == ["line 3 is damaged"]


def test_what_does_not_fit_is_left_out_the_least_important_first(stories: Stories) -> None:
    """Text that does not compress, more than 5 MB of it."""
    result = stories["one_regression"]()
    ok = [trial.model_copy(update={"scenario": "add_task", "id": f"head/add_task/docs/{n}"}) for n, trial in
          enumerate(result.trials * 3)]  # fmt: skip

    def incompressible(trial: TrialResult) -> Record:
        blocks = (hashlib.sha256(f"{trial.id} {n}".encode()).hexdigest() for n in range(12_000))
        return Record(events=(Message(text="".join(blocks)),))

    page = rendered(result.model_copy(update={"trials": (*ok, *result.trials)}), incompressible)
    kept = list(records(page))
    assert len(page.encode()) <= MAX_BYTES
    assert kept[: len(result.trials)] == [trial.id for trial in result.trials]
    assert len(result.trials) < len(kept) < len(result.trials) + len(ok)


def test_gates_of_one_label_are_told_apart(stories: Stories) -> None:
    result = stories["one_regression"]()
    row = result.rows[-1]
    twice = row.model_copy(update={"gates": row.gates * 2})
    (gate,) = result.trials[1].gates
    trial = result.trials[1].model_copy(update={"gates": (gate, gate.model_copy(update={"passed": True}))})
    view = page_view(result.model_copy(update={"rows": (twice,), "trials": (trial,)}), {})
    assert view.rows[0].trials[0].gates == (False, True)


def test_the_page_says_how_to_fix_a_regression_and_shows_the_task_without_fences(stories: Stories) -> None:
    result = stories["one_regression"]()
    rows = [row.model_copy(update={"task": "Run these:\n```sh\nadd x\nlist\n```"}) for row in result.rows]
    view = page_view(result.model_copy(update={"rows": tuple(rows)}), {})
    (cause,) = view.causes
    named = "update `AGENTS.md:12` and `AGENTS.md:14`, which still use `--prio`, or revert `taskmgr/cli.py:31`."
    assert cause.fix.startswith(named)
    assert view.rows[0].task == "Run these:\nadd x\nlist"
