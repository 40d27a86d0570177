"""Input for examples that read a file which the repository does not have, such as `cat input.html | tool`. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_PEOPLE = (("id", "name", "city"), ("1", "Ada", "London"), ("2", "Grace", "New York"), ("3", "Alan", "Wilmslow"))
SAMPLES = {
    ".html": "<!doctype html>\n<html><head><title>Sample</title></head><body>\n"
    "<header class='header'><nav class='nav'><a href='/'>Home</a></nav></header>\n"
    "<main class='main' id='main'>\n<h1 class='title'>A heading</h1>\n"
    "<div class='content' id='content'><p>The first paragraph.</p></div>\n"
    "<article class='entry post'><h2>An entry</h2><p>The text of an entry.</p></article>\n"
    "<ul class='list'><li class='item'>One</li><li class='item'>Two</li></ul>\n</main>\n"
    "<aside class='sidebar' id='sidebar'><p>The side column.</p></aside>\n"
    "<footer class='footer' id='footer'>The end</footer>\n</body></html>\n",
    ".json": '{"name": "Ada", "city": "London", "tags": ["first", "second"], "items": [{"id": 1}, {"id": 2}]}\n',
    ".jsonl": '{"id": 1, "name": "Ada"}\n{"id": 2, "name": "Grace"}\n',
    ".csv": "".join(",".join(row) + "\n" for row in _PEOPLE),
    ".tsv": "".join("\t".join(row) + "\n" for row in _PEOPLE),
    ".txt": "The first line of a text.\nThe second line.\nA third one, with the number 42.\n",
    ".md": "# A heading\n\nSome *text* with a [link](https://example.com).\n\n- one\n- two\n",
    ".xml": "<?xml version='1.0'?>\n<people><person id='1'>Ada</person><person id='2'>Grace</person></people>\n",
    ".yaml": "name: Ada\ncity: London\ntags: [first, second]\n",
    ".toml": 'name = "Ada"\ncity = "London"\n',
    ".log": "10:00:01 INFO started\n10:00:02 WARN slow answer\n10:00:03 ERROR no answer\n",
}
SAMPLES |= {".htm": SAMPLES[".html"], ".ndjson": SAMPLES[".jsonl"], ".yml": SAMPLES[".yaml"]}
_READ = re.compile(r"(?:\bcat\s+|<\s*|\s(?:-i|--input|-f|--file)[\s=])[\"']?([\w.-]+)[\"']?(?=\s|$)")


def samples(line: str) -> tuple[str, ...]:
    """Return the names of the files that a command line surely reads, and for which there is a sample."""
    return tuple(name for name in _READ.findall(line) if PurePosixPath(name).suffix.lower() in SAMPLES)


def sample(name: str) -> bytes:
    """Return the sample for a file of this name."""
    return SAMPLES[PurePosixPath(name).suffix.lower()].encode()
