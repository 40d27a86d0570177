"""Calls that documents and tests show."""

from __future__ import annotations

import pytest

from tidegate.authoring.shown_calls import shown_in_shell, shown_lines, shown_objects, shown_phrases, shown_texts


def test_lines_in_the_code_of_tests_are_texts_that_are_more_than_words_and_names() -> None:
    code = """
        it('parses {objects}', () => { parse('{"a": 1}'); read("a.txt", 'two words'); parse('it\\'s \\u00e9 {x}') })
        pytest.param('x = {1}', id='set: y')
    """
    assert shown_lines([code, '"\\q{"']) == ['{"a": 1}\n', "it's \u00e9 {x}\n", "x = {1}\n", "q{\n"]


def test_a_call_of_a_function_shows_its_arguments_in_order() -> None:
    assert {"name": "add", "arguments": ["a", 2]} in shown_objects([], ["add('a', 2)"])


@pytest.mark.parametrize(
    "code",
    [
        "def test_add():\n    assert add(text='a', times=2) == 'aa'",
        "async def test_add(client):\n    await client.call_tool('add', {'text': 'a', 'times': 2})",
        "TEXT = 'a'\nfor times in ():\n    add(text=other, times=times)\ntools.add(text=TEXT, times=2)",
        "A = 'a'\nNOTES = [{'text': A, 'times': 2}]\nkeep(notes=NOTES, name='b')",
        "await client.callTool({ name: 'add', arguments: { text: 'a', times: 2 } });",
        'callTool({\n  "name": "add", // a comment\n  arguments: {text: "a", times: 2,},\n})',
    ],
)
def test_a_call_in_a_test_shows_its_arguments(code: str) -> None:
    assert {"text": "a", "times": 2} in shown_objects([], [code])


@pytest.mark.parametrize(
    "code",
    ["add(text=b'a', times=2)", "add({ day: 2024-02-29, times: 2 })", "add({ open: '}'", "add({ text: TEXT })", "("],
)
def test_what_is_no_json_shows_nothing(code: str) -> None:
    assert shown_objects([], [code]) == []


def test_names_that_stand_for_values_are_known_even_if_they_are_made_of_themselves() -> None:
    code = "size = 2\nrows = [rows]\nrows = [rows]\nnew(rows)\npath = [size]\npath = [path, size]\nadd(path, size)\n"
    code += "many = [1]\n" + "many = [many, many]\n" * 40 + "add(many, 1)\n"
    assert shown_objects((), [code]) == [{"name": "add", "arguments": [[[2], 2], 2]}]


def test_texts_that_tests_give_to_something_are_shown_without_docstrings() -> None:
    python = '''
def test_a():
    """A docstring
    with two lines."""
    check(dedent("""\\
        # A
        ## B
    """))
    check('one\\ntwo', 'one line')
'''
    script = "it('x', () => run(`# C\n# D`))"
    assert shown_texts([python, script]) == ["# A\n## B\n", "one\ntwo\n", "# C\n# D\n"]


def test_a_text_that_is_put_together_from_its_lines_is_one() -> None:
    script = "check(\n  'for (a of b) {\\n' +\n  '  c();\\n' +\n  '}'\n)"
    python = 'check(\n    "a: 1\\n"\n    "b: [2]\\n"\n)'
    assert shown_texts([script, python]) == ["for (a of b) {\n  c();\n}\n", "a: 1\nb: [2]\n"]
    assert shown_lines(["check('a{' +\n  '}')"]) == ["a{}\n"]


def test_phrases_that_have_a_new_character_are_shown() -> None:
    readme = "It's prose, isn't it.\n```python\nslug('C\\'est été')\nslug('one two')\n```\n"
    test = "assert slug('1,000 words') == 'a'\nassert slug('un été') and slug('a {} b') and slug('two words')"
    assert shown_phrases([readme], [test]) == ["C'est été", "1,000 words"]


def test_two_surrogates_are_one_character_and_one_alone_is_none() -> None:
    code = r"""a('x: \ud834\udf06'); b('y: \ud834');"""
    assert shown_lines([code]) == ["x: \U0001d306\n", "y: ?\n"]


def test_texts_in_quotes_and_here_documents_of_shell_scripts_are_inputs() -> None:
    script = "try 'a link' \\\n    '[a][]\n\n[a]: b' \\\n    '<p>a</p>'\ncat <<'EOF' | tool\n- one\n- two\nEOF\ndon't\n"
    assert shown_in_shell([script, "echo '<p>a</p>' 'two words' \"it's\""]) == [
        "[a][]\n\n[a]: b\n",
        "<p>a</p>\n",
        "- one\n- two\n",
    ]
