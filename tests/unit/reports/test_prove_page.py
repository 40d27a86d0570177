"""prove.html: mutants that are alive, the map of the surface, and the trend, without a script."""

from __future__ import annotations

import re
from html import unescape

from tidegate.model.mutant import Mutant, MutantResult
from tidegate.model.proof import Draft, NewlyAlive, Proof, ProofTrend, ToolProof, UsedPart
from tidegate.model.surface import Part
from tidegate.reports.html import hash_of
from tidegate.reports.prove_page import prove_page

EVIL = "<img src=x onerror=alert(1)>"
PARTS = (
    UsedPart(part=Part(kind="subcommand", name="add"), scenarios=("s",)),
    UsedPart(part=Part(kind="subcommand", name="undo"), scenarios=()),
    UsedPart(part=Part(kind="option", name="--due", command="add"), scenarios=()),
    UsedPart(part=Part(kind="option", name="--loud", command="add"), scenarios=("s", "more")),
    UsedPart(part=Part(kind="option", name="--hard", command="undo"), scenarios=()),
    UsedPart(part=Part(kind="json_key", name="undo", command="add"), scenarios=()),
    UsedPart(part=Part(kind="exit_code", name="0", command="add"), scenarios=("s",)),
)
CUT = Mutant(kind="output_truncated", words=f"`add` {EVIL}", command="add")
PROOF = Proof(
    sha="a" * 40,
    tools=(
        ToolProof(
            tool="t",
            counts="1 of 2 options",
            parts=PARTS,
            mutants=(MutantResult(mutant=CUT, state="alive", why="s meets it", met_by=("s",)),),
            drafts=(Draft(catches="x", file="s.yaml", text=f"- {EVIL}", into="gates"),),
        ),
    ),
    trend=ProofTrend(sha="b" * 40, at=0, share=0.5, decided=2, alive=(NewlyAlive(words="w", why="it is new"),)),
    notes=(EVIL,),
)


def test_the_page_shows_the_map_the_living_and_the_trend() -> None:
    page = prove_page(PROOF)
    _, surface = page.split("<h3>Used by", 1)
    assert re.findall(r'<li( class="unused")?(?: title="[^"]*")?>([\w-]+)', surface) == [
        (' class="unused"', "--due"),
        ("", "--loud"),
        (' class="unused"', "undo"),
        (' class="unused"', "--hard"),
    ]
    assert 'title="s, more"' in page
    assert re.search(r"<h3>undo <span[^>]*>no scenario uses it", page)
    assert "50% of 2 mutants at bbbbbbbbbbbb, now 0% of 1: 1 newly alive, 0 newly caught" in page
    assert "s meets it (s)" in page


def test_the_page_has_no_script_and_escapes_what_a_tool_printed() -> None:
    page = prove_page(PROOF)
    assert "<img" not in page
    assert "<script" not in page
    assert page.count("&lt;img") >= 3
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    assert style is not None
    assert f"default-src 'none'; style-src '{hash_of(style[1])}'" in unescape(page)
