"""Sample files by kind, for examples that name a file which the repository does not have. Pure."""

from __future__ import annotations

_PEOPLE = (
    *(("id", "name", "city", "score"), ("3", "Alan", "Wilmslow", "7.25"), ("1", "Ada", "London", "42.5")),
    *(("2", "Grace", '"New York, NY"', "9"), ("4", "Ada", "", "10.125")),
)
_PYTHON = '''"""A sample."""
import os
import sys
import json  # noqa: F401


def used(items, rate=0.5):
    total = 0
    for item in items:
        if item > 42 and rate != None:
            total += item*rate\x20
    return total

def unused(name="Ada", tags=[]):
    city = "London"; text = "a long line that goes on, and on, and on, past the limit of most linters" + name
    return name


class Person:
    limit = 3

    def greet(self):
        return f"Hello, {self.name}"


print(used([1, 2, 50]))
'''
HISTORY = "history.sh"  # makes a git repository in the folder that it is given
_HISTORY = """#!/bin/sh
set -e
if [ -d "$1" ]; then exit; fi
git init -q -b main "$1" && cd "$1"
commit() {  # author, month, message
    git add -A
    export GIT_AUTHOR_DATE="2023-$2-10T10:00:00Z" GIT_COMMITTER_DATE="2023-$2-10T12:00:00Z"
    git -c user.name="$1" -c user.email="$1@example.com" commit -q -m "$3"
}
printf 'def add(a, b):\\n    return a + b\\n' > sums.py
commit Ada 01 "feat: add sums"
printf '# Sums\\n\\nAdds numbers.\\n' > README.md
commit Grace 02 "docs: describe sums (#1)"
git tag v1.0.0
mkdir lib && printf '\\n# in C, too\\nint add(int a, int b) { return a + b; }\\n' > lib/sums.c
printf 'def add(a, b):\\n    # adds\\n    return a + b\\n\\n\\ndef sub(a, b):\\n    return a - b\\n' > sums.py
commit Ada 03 "fix(sums)!: subtract, too"
git checkout -q -b feature v1.0.0 && echo notes > notes.txt
commit Ada 04 "feat: add notes"
git checkout -q main
GIT_AUTHOR_DATE=2023-04-20T10:00:00Z GIT_COMMITTER_DATE=2023-04-20T10:00:00Z \\
    git -c user.name=Grace -c user.email=Grace@example.com merge -q --no-ff -m "Merge branch 'feature'" feature
git rm -q README.md
commit Grace 05 "chore: drop the README, fixes #2"
"""
SAMPLES = {
    ".html": "<!doctype html>\n<html><head><title>Sample</title></head><body>\n"
    "<header class='header'><nav class='nav'><a href='/'>Home</a></nav></header>\n"
    "<main class='main' id='main'>\n<h1 class='title'>A heading</h1>\n"
    "<div class='content' id='content'><p>Ada has <b>42</b> points.</p></div>\n"
    "<article class='entry post'><h2>An entry</h2><p>The text of an entry.</p></article>\n"
    "<ul class='list'><li class='item'>One</li><li class='item'>Two</li></ul>\n"
    "<table><tr><th>Name</th><th>City</th></tr><tr><td>Ada</td><td>London</td></tr></table>\n</main>\n"
    "<aside class='sidebar' id='sidebar'><p>The side column.</p></aside>\n"
    "<footer class='footer' id='footer'>The end</footer>\n</body></html>\n",
    ".json": '{"name": "Ada", "city": "London", "score": 42.5, "active": true, "tags": ["second", "first"],\n'
    ' "items": [{"id": 2, "price": 7.125}, {"id": 1, "price": 10}], "nested": {"key": null},\n'
    ' "empty": "", "none": [], "rate": 1.5E-3, "text": "a \\"b\\" \\u00e9\\n<c> https:\\/\\/example.com"}\n',
    ".jsonl": '{"id": 1, "name": "Ada"}\n{"id": 2, "name": "Grace"}\n',
    ".csv": "".join(",".join(row) + "\n" for row in _PEOPLE),
    ".tsv": "".join("\t".join(row) + "\n" for row in _PEOPLE),
    ".txt": "The first line of a text about Ada.\nThe second line, with the number 42.\n\nbanana\napple\nbanana\n"
    '  one  two, three:four\t"five" & <six>\n\x1b[1;31mred\x1b[22m plain\x1b[0m\n',
    ".md": "# A heading\n\nSome *text* about **Ada** with a [link](https://example.com).\n\n"
    "* one\n* two\n    1. inner\n    2. more\n\n| a | b |\n|---|:-:|\n| 1 | 42 |\n\n"
    "1. *em*, `code` and \"quotes\" -- 1 < 2 & 3\n2. ![image](a.png 'title')\n\n> quoted ~~old~~ text\n\n"
    "---\n\n    indented\n\n- [x] done\n\n```sh\necho hello\n```\n\n<b>html</b> a[^1]\n\n[^1]: x\n\nThe end\n=====\n",
    ".rst": "A heading\n=========\n\nSome *text* about **Ada**.\n\n- one\n- two\n\n.. code:: sh\n\n    echo 42\n",
    ".xml": "<?xml version='1.0'?>\n<people><person id='1' score='42'>Ada</person>"
    "<person id='2'>Grace</person></people>\n",
    ".yaml": "name: Ada\ncity:  London\nscore: 42.5\ntags: [second, first]\n"
    "items:\n- id: 2\n  price: 7.125\n- {id: 1}\n",
    ".toml": 'name = "Ada"\ncity = "London"\n[score]\nlast = 42\n',
    ".ini": "[person]\nname = Ada\nscore = 42\n",
    ".log": "10:00:01 INFO started\n10:00:02 WARN slow answer 42\n10:00:03 ERROR no answer\n",
    ".py": _PYTHON,
    ".js": "import fs from 'fs';\nvar unused = 42\n\n"
    "function greet(name) {\n  if (name == 'Ada') { return \"Hello, \" + name }\n}\nexport default greet;\n",
    ".fa": ">one first\nACGTNNACGTACGGATTACA\nTTAGGG\n>two\nGGGCCCAAATTTR\n>one first\nacgt\n",
    ".fq": "@one/1\nACGTNACGTACGTTGCA\n+\nIIIIIIII5555####!\n@two/1\nGGGCCCAAATTT\n+\n!5##IIIIIIII\n",
    ".css": "body { color: #ff0000; margin: 0 }\n.title, #main { font-size: 42px }\n",
    ".sh": '#!/bin/sh\nname=Ada\nif [ $name = "Ada" ]; then echo `expr 40 + 2`; fi\n',
    ".c": '#include <stdio.h>\n\nint main(void) {\n    int unused = 42;\n    printf("Ada\\n");\n    return 0;\n}\n',
    ".sql": "-- people\nselect id, upper(name) n, (select max(x) from t) from people p left join city c on p.c=c.id\n"
    "where score > 42 and city = 'London' or id in (1,2) group by name having count(*)>1 order by name desc limit 3;\n"
    "insert into t (a, b) values (1, 'x'), (2, 'y'); /* done */\n"
    "update t set a = case when b=1 then 2 else 3 end where c is not null;\n",
}
_SAME = {
    ".fasta": ".fa",
    ".fastq": ".fq",
    ".htm": ".html",
    ".ndjson": ".jsonl",
    ".yml": ".yaml",
    ".markdown": ".md",
    ".cfg": ".ini",
    ".conf": ".ini",
}
_OTHERS = (  # texts of the first sample, and those of the second
    *(("Ada", "Bea"), ("London", "Leeds"), ("42", "17"), ("7.125", "7.131"), ("nested", "inner"), ("Grace", "Jean")),
    *(('"id": 1', '"id": 5'), ('["second", "first"]', '["first", "second"]'), ("[second, first]", "[first, second]")),
)


def kind_of(name: str) -> str:
    """Return the kind of sample for a file of this name, such as `.json`; '' if there is none."""
    suffix = f".{name.rpartition('.')[2].lower()}" if "." in name else ""
    suffix = _SAME.get(suffix, suffix)
    return suffix if suffix in SAMPLES else ""


def sample(name: str, number: int = 0) -> str:
    """Return the sample for a file of this name: a text, if its kind is not known. Odd numbers have other values."""
    text = _HISTORY if name == HISTORY else SAMPLES[kind_of(name) or ".txt"]
    for ours, theirs in _OTHERS if number % 2 else ():
        text = text.replace(ours, theirs)
    return text
