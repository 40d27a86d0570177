# ruff: noqa: E501 (Markdown)
"""The words of docs/judges.md; the keys of each judge are put below them by generate.py."""

JUDGES = """# Judges

A judge is a model that scores a trial by a rubric, for what no program can check. Judges cost money and make mistakes, so
they run last, and only warn unless you let them block.

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
judge: {type: anthropic, model: claude-sonnet-4-6}   # not a model under test
```

```yaml
# a scenario
evaluation:
  gates: [{type: file_exists, path: notes.md}]
  judge: {rubric: rubrics/notes.yaml, pass_threshold: 0.70, files: [notes.md]}
```

```yaml
# rubrics/notes.yaml
criteria:
  - {id: complete, weight: 0.6, description: Every decision of the meeting is in the notes.}
  - {id: clear, weight: 0.4, description: A person who was not there understands each of them.}
```

The judge reads the task, the transcript, the calls of the tool, the agent's changes as a diff, and the `files` that you
name. It gives each criterion a score from 0 to 1 and a reason; Tidegate computes the weighted score. It is asked only after
all required gates have passed.

- Tidegate looks for the rubric next to the scenario, then in the repository root. Its weights add up to 1. `rubric:
  builtin:guidance` asks whether the docs were sufficient and the agent's path direct.
- The [evaluators](evaluators.md) `rubrics`, `step_rubrics` and `llm_judge` ask the same judge.
- `tidegate generate rubrics FILE` drafts rubrics for the cases of an AgentV eval file. Review them.
- A judge has the same [providers](providers.md) as an agent. `type: openai` with `api: chat` works with compatible servers, too.
- Without a `judge`, the variable `LLM_TOOL_TEST_JUDGE` names its model.

## What counts

| | |
|---|---|
| `outcome` of a trial | includes everything, also the judge |
| `decides`, what the verdict counts | leaves out models' opinions, unless `policy.judge_blocks: true` |
| `judge_score` | warns; `policy.block_metrics: {judge_score: 0.10}` makes it block |
| a row that the judge rates lower | warns ([how often](judge-warnings.md)) |

Without a valid answer, the result is *not measured*: never a 0 and never a pass. Reasons are a refusal, three malformed
answers, an outage, or no money left. With `judge_blocks`, a judge of a panel that has none on head alone is a fault. An inline rubric that the judge leaves out is unmet. `judge` is read from the base branch.

## Trust

- **A judge must not judge its own model.** `tidegate check` refuses that; `allow_self_judging: true` allows it.
- **It does not see** the side, the agent, names of models, keys, control characters, line ends, or file modes beyond the executable bit.
- **Prompt injection.** Text of trials is fenced, and the judge is told that nothing in it is an instruction. A model is
  still vulnerable. `tidegate injections` shows it bad work with about 190 attacks, and names what got through.
- **Samples.** With `samples: 3`, the medians count, and reports show how often the samples agree.

## Compare it with people

```sh
tidegate label .tidegate/pr                   # label trials by hand; the judge's opinion is hidden
tidegate calibrate LABELS.jsonl --run .tidegate/pr
```

`calibrate` prints the agreement, Cohen's kappa, and every disagreement. Use at least 50 labels. It writes
`tidegate.calibration.json`. If you commit that, comments quote it, as long as the model, the criterion and Tidegate's prompt
stay the same. A label is a line

```json
{"trial": "head/keep_notes/docs/1", "criterion": "complete", "verdict": "met"}
```

with the verdict `met`, `unmet` or a score. Criteria of evaluators are `EVALUATOR/CRITERION`.

## A panel

```yaml
judge:
  - {type: anthropic, model: claude-sonnet-5-5, samples: 3}
  - {type: openai, model: gpt-5.5}
  - {type: anthropic, model: claude-opus-5-5}
```

Two to nine judges with different models answer every question. The median of their scores counts; for yes or no, the
majority, and a tie is no. More than half of them have to answer. Reports show how often they agree.

## What it costs

One call for each trial, rubric and sample. Answers are kept in the store, so a second run of the same comparison pays only
for what is missing. Once `max_usd` is spent, the judge is not asked again; for that, the model needs a
[price](configuration.md#budgets-and-prices). Reports list the judge's cost separately.

## What it answers

One JSON object. Structured output enforces its form for `anthropic`, `openai` and `google`; a program behind `command`
prints it. For a rubric, each criterion comes once:

```json
{"scores": [{"id": "complete", "reason": "Two of three are there.", "score": 0.6}, {"id": "clear", "reason": "Yes.", "score": 1}]}
```

| asked by | answers |
|---|---|
| `judge` | `{"scores": [{"id": …, "reason": …, "score": …}]}` |
| `rubrics`, with `rubric-N` for an item without an id | `{"checks": [{"id": …, "reasoning": …, "satisfied": true}]}` |
| `step_rubrics` | `{"criteria": [{"id": …, "unmet": [{"step": 2, "reason": …}]}]}` |
| `llm_judge`, `composite` | `{"score": 0.9, "reasoning": …, "hits": […], "misses": […]}` |

A complete judge for `judge: {type: command, model: mine, command: python3 judge.py}`:

```python
import json, sys

prompt = sys.stdin.read()  # criteria, task and transcript; ask your model here
said = {name: 1.0 if "decided" in prompt else 0.0 for name in ("complete", "clear")}
print(json.dumps({"scores": [{"id": n, "reason": "by the word", "score": s} for n, s in said.items()]}))
```

## Keys of each judge
"""
