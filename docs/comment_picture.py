"""Draw the comment of `make demo` as GitHub shows it, for the README: `python docs/comment_picture.py`.

Writes docs/pictures/comment-light.png, comment-dark.png and their text. Needs Chromium and the development tools.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cmarkgfm import github_flavored_markdown_to_html  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures"
STYLE = (ROOT / "tests/browser/comment.css").read_text(encoding="utf-8")
DARK = """
body { background: #0d1117; color: #f0f6fc; } h2 { border-color: #3d444db3; } pre { background: #151b23; }
blockquote { color: #9198a1; border-color: #3d444d; } a { color: #4493f8; } hr { background: #3d444d; }
"""
COLOURS = {"light": ("#dafbe1", "#ffebe9"), "dark": ("#2ea04326", "#f8514926")}
CROSS = (  # drawn, since not every machine has a font for the emoji
    '<svg width="0.8em" height="0.8em" viewBox="0 0 10 10">'
    '<path d="M1 1 9 9M9 1 1 9" stroke="#dd2e44" stroke-width="2.2"/></svg>'
)
WIDTH, LAST = 860, "Other commands that failed on head"  # the picture ends above this line


def main() -> None:
    """Run the demo and draw the comment of its pull request that breaks the tool."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, "-m", "tidegate", "demo", "--out", out], check=False, stdout=subprocess.DEVNULL)
        text = (Path(out) / "regression/comment.md").read_text(encoding="utf-8")
    drawn = text.partition(LAST)[0]
    (PICTURES / "comment.txt").write_text(drawn, encoding="utf-8")  # a test compares it with the demo's comment
    page = github_flavored_markdown_to_html(drawn, Options.CMARK_OPT_UNSAFE)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme, (added, removed) in COLOURS.items():
            tab = browser.new_page(viewport={"width": WIDTH, "height": 100}, device_scale_factor=1.25)
            style = STYLE + (DARK if scheme == "dark" else "")
            tab.set_content(f"<!doctype html><style>{style}</style>{_diffs(page, added, removed).replace('❌', CROSS)}")
            tab.screenshot(path=PICTURES / f"comment-{scheme}.png", full_page=True)
        browser.close()


def _diffs(page: str, added: str, removed: str) -> str:
    """Return the page with the lines of its diffs in colour, as GitHub colours them."""

    def coloured(block: re.Match[str]) -> str:
        lines = [
            f'<span style="background:{added if line[0] == "+" else removed}">{line}</span>'
            if line.startswith(("+", "-"))
            else line
            for line in block[2].splitlines()
        ]
        return block[1] + "\n".join(lines) + "</code></pre>"

    return re.sub(r'(<pre lang="diff"><code>)(.*?)</code></pre>', coloured, page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
