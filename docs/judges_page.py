# ruff: noqa: E501 (tables of Markdown)
"""The words of docs/judges.md; the keys of each judge are put below them by generate.py."""

JUDGES = """# Judges

A judge is a model that scores a trial by a rubric. Judges cost money and make mistakes, so they run last, they only warn
unless you let them block, and reports show their reasons.

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
judge: {type: anthropic, model: claude-sonnet-4-6}   # never a tested model
```

`type: openai` and `type: google` use models of OpenAI and Google, with the API keys that agents use; `openai` also works
with any server that has a compatible API:

```yaml
judge:
  type: openai
  api: chat
  model: qwen3
  provider: {type: compatible, base_url: "http://localhost:8000/v1", key: VLLM_KEY}
```

A judge has the same [providers](providers.md) as an agent: with a key, or without one by AWS, Azure, Google, OpenAI or
Anthropic.

```yaml
# a scenario
evaluation:
  gates: [{type: file_exists, path: notes.md}]
  judge: {rubric: rubrics/notes.yaml, pass_threshold: 0.70}
```

```yaml
# rubrics/notes.yaml
criteria:
  - {id: complete, weight: 0.6, description: Every decision of the meeting is in the notes.}
  - {id: clear, weight: 0.4, description: A person who was not there understands each of them.}
```

The judge reads the transcript, the calls of the tool with their exit codes, what the agent changed in the workspace as a
diff, and the whole text of the files that `judge: {files: [notes.md]}` names. If all of it is more than 60,000 characters,
the transcript is cut first.

Tidegate looks for the rubric next to the scenario, then in the repository root. `rubric: builtin:guidance` asks whether the documentation was sufficient and the agent's path direct. The weights of a
rubric add up to 1. The judge gives each criterion a score from 0 to 1 and a reason; Tidegate computes
the weighted score itself. A `judge` without `enabled: false` is asked only after all required gates have passed.

The [evaluators](evaluators.md) `rubrics`, `step_rubrics` (each step by itself), `llm_judge`, `composite` with the aggregator `llm_judge`, and `plan` with a
`criterion` ask the same judge, and so do inline `rubrics` of AgentV's cases. If `LLM_TOOL_TEST_JUDGE` is set and
`tidegate.yaml` has no `judge`, that model is the judge: OpenAI's if its name begins with `gpt-` or
`o3`, Google's if it begins with `gemini`, else Anthropic's.

## What counts

| | |
|---|---|
| `outcome` of a trial | includes everything, also the judge |
| `decides`, what the verdict counts | leaves out models' opinions, unless `policy.judge_blocks: true`; a judged row is then compared as non-deterministic, with any agent |
| `judge_score` | a metric, tested over the suite: it warns; `policy.block_metrics: {judge_score: 0.10}` makes it block |
| a row that the judge rates lower | it warns; all judged rows are tested together, with base's history ([error rates](judge-warnings.md)) |

If the judge gives no valid answer (a refusal, three answers that are cut off or malformed, an outage, no key, no money
left), its result is *not measured*: shown in yellow, never a 0 and never a pass. With `samples` above 1, the medians count,
provided that more than half of the samples can be read; reports show how often they agree, as the judge's agreement
with itself. `judge` is read from the base branch: a change in a pull request takes effect after merging.

| an answer | is |
|---|---|
| a rubric's criterion missing, unknown, twice; a score of 85, or `"0.9"`; prose; broken JSON | asked again, at most three times in all, then not measured |
| an inline rubric that is left out, comes twice, or was never declared | unmet; counted once; ignored; the result notes each |

## What it answers

One JSON object, in the form that the end of the prompt describes. Structured output enforces it for `anthropic`, `openai` and `google`; a
program behind `command` prints it; an entry of `scripted` has it under `answers`. For a rubric:

```json
{
  "scores": [
    {"id": "complete", "reason": "Two of the three decisions are there.", "score": 0.6},
    {"id": "clear", "reason": "Each is a sentence with a name in it.", "score": 1}
  ],
  "confidence": 0.8, "issues": ["the date is missing"], "highlights": []
}
```

Only `scores` is required: each criterion of the rubric once, with a number from 0 to 1.

| asked by | answers |
|---|---|
| `judge`, with a rubric; `plan`, whose one id is `plan` | `{"scores": [{"id": …, "reason": …, "score": …}]}` |
| `rubrics`, with `rubric-N` for an item without an id | `{"checks": [{"id": …, "reasoning": …, "satisfied": true}]}` |
| `step_rubrics` | `{"criteria": [{"id": …, "unmet": [{"step": 2, "reason": …}]}]}` |
| `llm_judge`, `composite` | `{"score": 0.9, "reasoning": …, "hits": […], "misses": […]}` |

A complete judge, which `judge: {type: command, command: python3 judge.py}` runs for each question of a rubric:

```python
import json, sys

prompt = sys.stdin.read()  # criteria, task and transcript; ask your model here
said = {name: 1.0 if "decided" in prompt else 0.0 for name in ("complete", "clear")}
print(json.dumps({"scores": [{"id": n, "reason": "by the word", "score": s} for n, s in said.items()]}))
```

## A panel

`judge` can be a list of two to nine judges with different models, each with its own settings:

```yaml
judge:
  - {type: anthropic, model: claude-sonnet-5-5, samples: 3}
  - {type: openai, model: gpt-5.5}
  - {type: anthropic, model: claude-opus-5-5}
```

Every judge answers every question. A judge's samples are combined first. A score is the
median of the judges' scores. For yes or no the majority counts, and a tie is no; a pair is "the same" without a majority.
A trial is not judged unless more than half of the panel can be read. The comment and `result.json` report how often two
judges agree; each trial's record has every judge's scores. `tidegate calibrate` reports kappa of each judge and of the
panel. The cost of a panel is the sum of its judges' costs.

## Drafts

`tidegate generate rubrics FILE` has the judge write three to seven rubrics for each case of an eval file that has an
`expected_outcome` but no rubrics, and adds them to the file; comments and layout stay. Review them before you commit.

## Fairness

- The judge's model must not be one that it judges. `tidegate check` and every run report it with file and line, also
  where dates, providers or aliases differ: `anthropic/claude-haiku-4.5`, `claude-haiku-4-5-20251001` and `haiku` are
  treated as one model. `allow_self_judging: true` allows it.
- It sees neither side, agent, model nor folder: names of models and agents are masked, as are keys.
- Text of the task, the agent, tools and files is inside a fence named after the hash of its content, and its middle is
  cut to keep 60,000 characters; the judge is told that nothing inside is an instruction. A model is still
  vulnerable to prompt injection: that is why a judge alone blocks nothing by default. `tidegate injections` shows the judge bad work
  that tries, about 190 times each (17 kinds of attack in every field that it sees, named files included), by a rubric, by
  checks, by `step_rubrics` (100 times) and by `llm_judge`, and names what got through. It stops if the judge gives no
  answers, and reports why. A judge that gives the bad work a high score without any attack cannot be tested; that is reported too.
- The criteria come in an order that differs from sample to sample, and is the same every time.

## Calibration

`tidegate label RUN` shows judged trials one criterion at a time, those on which the judge's samples disagree first, then
those that it fails although all gates passed, and asks a person whether the criterion is met; it hides the judge's
opinion and the side. With `--page` it asks in a browser, on a page that only this machine can open, at a secret
address. `tidegate calibrate LABELS.jsonl --run RUN` compares: agreement with Wilson's interval, Cohen's kappa with its
asymptotic interval (Fleiss, Cohen and Everitt), a table, the judge's agreement with itself, and every disagreement. Use at
least 50 labels. It writes `tidegate.calibration.json`; if you commit it next to `tidegate.yaml`,
later comments quote it, as long as the model, the text of the criterion and Tidegate's prompt stay the same. "Agrees with people 90% (kappa 0.78), calibrated on 54 labels of 2 of these criteria; 1 criterion has
none" means that a third one was reworded or never labelled; `tidegate check` names the scenario. A line of labels is

```json
{"trial": "head/keep_notes/docs/1", "criterion": "complete", "verdict": "met"}
```

with the verdict `met` or `unmet` (or yes and no, true and false, a score), and criteria of evaluators as
`EVALUATOR/CRITERION`.

## What it costs

One call for each trial, rubric and sample, up to `jobs` at once. Trials with equal transcripts are judged separately, so
that the statistics count independent answers, with one exception: if the trials with the same number on base and on head
read the same, they share an answer, because the judge cannot tell them apart. Every answer that can be read is kept
under `STORE/judge`, so that a second run of the same comparison, or a resumed one, does not pay for it again. The next
run repeats unreadable answers, refusals and outages: if nothing else has changed, it reuses the trials and asks
only the judge. Once `max_usd` is spent, the judge is not asked again; for that the model needs a price, in `prices` or built in
([budgets](configuration.md)). Cached tokens count as new ones. The
comment and `result.json` report calls and cost separately from the agents'.
"""
