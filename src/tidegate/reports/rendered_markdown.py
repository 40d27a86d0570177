"""Markdown as a terminal shows it. Imported only where there is one."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

THEME = Theme({"markdown.code": "bold cyan"})  # no background: terminals may be light


class _Code(CodeBlock):
    """A code block in which only a diff has colours: the image has no lexers of pygments."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(self.text.plain.rstrip(), overflow="fold")
        if self.lexer_name == "diff":
            text.highlight_regex(r"(?m)^-.*", "red")
            text.highlight_regex(r"(?m)^\+.*", "green")
        yield Padding(text, 1)


class RenderedMarkdown(Markdown):
    """Markdown with such code blocks."""

    elements = {**Markdown.elements, "fence": _Code, "code_block": _Code}
