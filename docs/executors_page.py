# ruff: noqa: E501 (Markdown)
"""The words of docs/executors.md; the keys of each executor are put below them by generate.py."""

EXECUTORS = """# Executors

By default, trials run on the machine that Tidegate runs on. With `executor`, they run on others: your command passes each
bundle of trials to a worker, which writes a bundle of results.

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
executor: {type: command, parallel: 8, run: "sbatch --wait ci/worker.sh {bundle} {out}"}
```

```sh
#!/bin/sh
#SBATCH --cpus-per-task=4 --mem=8G
# ci/worker.sh, for Slurm: the keys are exported by a file that only this user can read
. "$HOME/.config/tidegate/keys"
exec tidegate trials run "$1" --out "$2"
```

The verdict depends only on the results, so it is the same as on one machine. Judges, history and reports stay on the first
machine. `executor` and the files that `run` names are read from the base branch.

To try it without an engine, use `run: tidegate trials run {bundle} --out {out}`.

## Other engines

Our tests cover the local examples and Ray; the others follow their tools' documentation.

**Docker**, one container per batch, as root inside, so that each trial has its own user:

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

**Ray**: `executor: {type: ray, address: auto, parallel: 8}`. **Slurm** needs `TMPDIR` on a file system that all nodes share.

## What a worker needs

- Linux, git, Python 3.11 or newer, and the same version of Tidegate and of the agents' programs.
- **The keys**, in its own environment: no bundle contains the value of a variable. On the first machine only judges need keys.
- **Whatever `build` needs.** Each batch builds both sides again. Its checkout has one commit and no tags.
- **Isolation**: separate users need root, for example in a container ([security](security.md)). The result lists what each
  worker could do (`confinement`).

A bundle holds both sides' files. Workers get no key or variable for a fork that the fork's job does not have.

## If a worker fails

One worker checks the agents first, with base's code alone. If that returns nothing, the run ends with exit code 4.

Later, a batch is *lost* if its command fails or takes longer than `minutes`, or if its results are incomplete or damaged. Its
trials are run again, up to twice, and are then not measured (*worker_lost*). Head's trials can end their worker, so that is
repeated as failures are. If only head ends its workers, it is a regression.

A lost batch counts as if it had spent its whole share of the budget.
"""
