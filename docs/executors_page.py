# ruff: noqa: E501 (Markdown)
"""The words of docs/executors.md; the keys of each executor are put below them by generate.py."""

EXECUTORS = """# Executors

By default, trials run on the machine that Tidegate runs on. With `executor` in `tidegate.yaml`, they run on others: each
bundle of trials is a file that a worker turns into a bundle of results, with one command:

```sh
tidegate trials run BUNDLE --out DIR
```

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
executor: {type: command, parallel: 8, run: "sbatch --wait ci/worker.sh {bundle} {out}"}
```

`executor` is read from the base branch, as the policy is. The procedure is the same everywhere: it asks for trials in
rounds, and the verdict depends only on their results. Judges, measurements, history and reports stay on the first machine.

## Examples

Only lines that run here and the Ray cluster are tested by Tidegate's test suite. The others follow the documentation of their
tools.

**Slurm**, with a file system that all nodes share. Set `TMPDIR` to a folder on it, which is where bundles are written:

```sh
#!/bin/sh
#SBATCH --cpus-per-task=4 --mem=8G
# ci/worker.sh: the keys are exported by a file that only this user can read
. "$HOME/.config/tidegate/keys"
exec tidegate trials run "$1" --out "$2"
```

**Docker**, one container per batch, as root inside, so that each trial has a user of its own:

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
executor:
  type: command
  run: >-
    docker run --rm --name {name} --env-file /etc/tidegate/keys --volume {bundle}:/bundle.zip:ro --volume {out}:/out
    --entrypoint tidegate WORKER_IMAGE trials run /bundle.zip --out /out
```

**Kubernetes**, with `run: ci/pod.sh {bundle} {out} {name}`:

```sh
#!/bin/sh -e
# ci/pod.sh BUNDLE OUT NAME: ci/pod.json names the secret with the keys (envFrom)
kubectl run "$3" --image=WORKER_IMAGE --restart=Never --overrides="$(cat ci/pod.json)" --command -- sleep 7200
trap 'kubectl delete pod "$3" --wait=false' EXIT
kubectl wait --for=condition=Ready "pod/$3" --timeout=300s
kubectl cp "$1" "$3:/tmp/bundle.zip"
kubectl exec "$3" -- tidegate trials run /tmp/bundle.zip --out /tmp/out
kubectl cp "$3:/tmp/out/results.zip" "$2/results.zip"
```

**Modal**, with `run: modal run ci/worker.py --bundle {bundle} --out {out}`: a function with the secrets that gets the bundle,
runs the command above, and returns `results.zip` of DIR.

**Ray**: `executor: {type: ray, address: auto, parallel: 8}`, see below.

Relative paths such as `ci/worker.sh` are those of base's checkout, so a pull request cannot change them. To try a line
without an engine: `run: tidegate trials run {bundle} --out {out}` starts each worker on this machine.

## What a worker needs

- Linux, git, a POSIX `sh`, Python 3.11 or newer, and **the same version of Tidegate**. It refuses bundles of other versions.
- The agents' programs, in the same version on all workers, and whatever `build` needs. Each batch builds both sides again, so put
  caches and tools into the image. The checkout there has one commit and no tags: `git describe` finds none.
- **The keys.** No bundle contains the value of a variable. The API keys of agents and the variables of `pass_env` are those of the
  worker's environment, and the model proxy runs on the worker. On the first machine only judges need keys.
  A variable that `target.env` refers to has to be set on the first machine, too, with any value.
- Pull requests from forks: workers do not use a key or a variable that the job of the fork was not given itself.
- **Isolation** as on one machine ([security](security.md)): separate users for trials need root, for example in a container; a
  confined `network` needs Linux 6.7 or network namespaces. The worker reports what it could do, and the result lists it
  (`confinement`). The folder of the results must be writable for Tidegate alone, not for the trials' users.
- The bundle holds both sides' files, those of the working tree included that git neither tracks nor ignores.

## What goes wrong, and what it counts as

Before the first trial, one worker checks the agents with base's code alone. If that returns no results, the run ends with exit
code 4 and the engine's message: nothing of the pull request has run by then.

Later, a batch is *lost* if the command ends with another status than 0 or not within `minutes`, if a Ray node is gone, if a worker
has another version of an agent than the first one, or if the results are incomplete, damaged or those of another batch:
`results.zip` names the bundle that it answers, and ends with a SHA-256 of all of it, as the bundle does. The trials of a lost batch are run again, up to
twice, each row and side in a batch of its own. After that they are not measured, for the cause *worker_lost*.

A trial's processes can end their worker, so *worker_lost* is an inside cause ([verdict](verdict.md#what-a-trial-shows)): it is repeated as
failures are. A head that ends its workers, where base is measured, is a regression. If the engine loses both sides, the row is
not measured, which is not a pass.

**Rate limits.** Each worker holds requests back while its provider answers 429 or 529, as on one machine
([verdict](verdict.md#what-a-trial-shows)), and reports how often. After each such batch, half as many run at the same time, and one more
after each other batch. Trials without an answer are run again, and are never failures.

**Budget.** Each batch gets its share of the dollars and tokens that are left, and all of the time. What a lost batch
has spent is unknown: its share counts as spent.

**Serial scenarios** and agents that run alone are alone on their worker; other workers go on.
"""
