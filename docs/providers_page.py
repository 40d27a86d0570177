# ruff: noqa: E501 (Markdown)
"""The words of docs/providers.md; the keys of each provider are put below them by generate.py."""

PROVIDERS = """# Providers: without a long-lived key

By default, an agent or a [judge](judges.md) needs an API key in the environment. With `provider`, Tidegate exchanges the OIDC token that GitHub gives a
job for a credential that is valid for about an hour. No secret is stored anywhere:

```yaml
# tidegate.yaml
version: 1
scenarios: [scenarios/*.yaml]
agents:
  claude:
    type: claude-code
    model: us.anthropic.claude-haiku-4-5-20251001-v1:0
    provider: {type: bedrock, region: us-east-1, role: "arn:aws:iam::123456789012:role/tidegate"}
```

The job needs one more permission, `id-token: write`. Commit the suite and run `tidegate init`: it writes workflows that grant it:

```yaml
# .github/workflows/tidegate.yml
WORKFLOW```

Where you have workflows already, add the permission to the jobs that run agents or judges: those for [pull requests](github.md#pull-requests),
for [several jobs](github.md#several-jobs), for [forks, by a maintainer](github.md#forks-a-maintainers-run), and for
[history](github.md#bases-history).

The credential stays in Tidegate's own process. The agent's program speaks the provider's own protocol to the model proxy with a
short-lived token; the proxy adds the credential or signs the request. It renews credentials during long runs, and allows
requests to models alone. `provider` is read from the base branch: a pull request cannot change an address or a role.
`model_proxy: false` is not possible with it.

## What works with what

| `provider` | `claude-code` | `codex` | `gemini` | `opencode` | `anthropic` | without a key | library |
|---|---|---|---|---|---|---|---|
| `anthropic` | yes | – | – | `anthropic/…` | yes | with `federation_rule` | – |
| `openai` | – | yes | – | `openai/…` | – | with `identity_provider` | – |
| `gemini` | – | – | yes | `google/…` | – | no | – |
| `bedrock` | yes | yes | – | `amazon-bedrock/…` (untested) | – | yes | `tidegate[aws]` |
| `vertex` | yes | – | yes | – | – | yes | `tidegate[google]` |
| `azure` | yes | yes | – | `anthropic/…`, `openai/…` | yes | yes | `tidegate[azure]` |
| `compatible` | yes | yes | yes | `anthropic/…`, `openai/…`, `google/…` | yes | if the server needs none | – |

Google offers no access to the Gemini API without a key; use `vertex`. opencode reaches Vertex AI only with Google's own
credentials, which it would have to hold itself.

The judge `anthropic` reaches its model by `anthropic`, `bedrock`, `vertex`, `azure` and `compatible`; the judge `openai` by `openai`, `bedrock`, `azure`
and `compatible`; the judge `google` by `gemini`, `vertex` and `compatible`. Tidegate asks the judge's model itself, without the model proxy.

The action has all libraries, in its image and [without a container](install.md#the-action-without-a-container). On your own machine, install the one that you
need: `pip install 'tidegate[aws]'`.

## Set up the trust

Trust the issuer `https://token.actions.githubusercontent.com`, and restrict the subject to your repository. The subject of a pull request's job is
`repo:OWNER/NAME:pull_request`, and of a push to main `repo:OWNER/NAME:ref:refs/heads/main`.

| `provider` | set up | audience |
|---|---|---|
| `anthropic` | a federation issuer and a rule in the Claude Console | `https://api.anthropic.com` |
| `openai` | a workload identity provider, and a mapping to a service account | `audience` (default: `https://api.openai.com/v1`) |
| `bedrock` | an IAM identity provider, and a role with `bedrock:InvokeModel` and `bedrock:InvokeModelWithResponseStream` | `sts.amazonaws.com` |
| `vertex` | a workload identity pool with a provider, and the role Vertex AI User | `https://iam.googleapis.com/` and the provider's name |
| `azure` | an application with a federated credential, and the role Cognitive Services User | `api://AzureADTokenExchange` |

Anyone who can push a branch to the repository can run a job with this subject, as anyone could read a secret there. Pull requests from forks get no OIDC token.
Then agents are [not measured](github.md), as without a key.

## Your own servers

```yaml
agents:
  local: {type: codex, model: qwen3-coder, provider: {type: compatible, base_url: "http://127.0.0.1:11434/v1"}}
```

Ollama, vLLM, LiteLLM and others have the API of OpenAI, Anthropic or Google. `codex` needs the Responses API. `key` names the variable with a key, if the server needs one.
Plain `http://` is allowed: the server's address comes from the base branch. The proxy reaches the server; trials need no `network` for it.

## Locally

Outside of GitHub, `bedrock`, `vertex` and `azure` use the credentials that the tools of AWS, Google and Azure find: profiles, `gcloud auth
application-default login`, `az login`. `tidegate doctor` reports whether there is access.

## If there is no access

Before the first trial, Tidegate gets one credential for each agent. If it cannot, the run ends with exit code 4 and one sentence:

| message | what to do |
|---|---|
| needs the permission `id-token: write` | add it to the job |
| GitHub refused an OIDC token | add the permission to the job |
| AWS did not let the job assume the role: `AccessDenied` | check the role's ARN and its trust policy: audience and subject |
| Google did not exchange the OIDC token | check the pool's provider, its condition, and the service account |
| Azure gave no token: `AADSTS…` | compare the federated credential with the job: issuer, subject, audience |
| Anthropic did not exchange the OIDC token: HTTP 401 | compare the federation rule with the job |
| OpenAI did not exchange the OIDC token: HTTP 400 | compare the mapping with the job |

If access is refused later, the agent's trials are not measured (*auth*) and no more of them start. If a service does not answer, they are repeated (*outage*).
A provider that reports a wrong clock (`Signature expired`) ends the agent's trials, too: correct the machine's time.

**Tokens.** The proxy counts tokens in all of these answers, also in Bedrock's event streams.
If an answer ends before its provider reports them, they are estimated and marked so.

## Keys of each provider
"""
