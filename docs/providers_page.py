# ruff: noqa: E501 (Markdown)
"""The words of docs/providers.md; the keys of each provider are put below them by generate.py."""

from collections.abc import Iterator, Mapping

from tidegate.agents import AGENTS
from tidegate.agents.opencode import CLIENTS
from tidegate.agents.providers import PROVIDERS as MEMBERS
from tidegate.model.provider import ANTHROPIC, ModelApi, ModelProvider

WITHOUT_KEY = {  # and the library that it takes
    "anthropic": "with `federation_rule` | –",
    "openai": "with `identity_provider` | –",
    "gemini": "no | –",
    "bedrock": "yes | `tidegate[aws]`",
    "vertex": "yes | `tidegate[google]`",
    "azure": "yes | `tidegate[azure]`",
    "compatible": "if the server needs none | –",
}


def _table() -> Iterator[str]:
    users: dict[str, Mapping[str, tuple[ModelApi, ...]]] = {
        **{name: {"yes": one.own_apis} for name, one in AGENTS.members.items() if hasattr(one, "own_apis")},
        "opencode": {f"`{name}/…`": (client.api,) for name, client in CLIENTS.items()},
        "anthropic": {"yes": (ANTHROPIC,)},
    }
    yield f"| `provider` | {' | '.join(f'`{name}`' for name in users)} | without a key | library |"
    yield f"|{'---|' * (len(users) + 3)}"
    for kind, provider in MEMBERS.members.items():
        assert issubclass(provider, ModelProvider)
        cells = (
            ", ".join(said for said, apis in one.items() if provider.api_of(apis)) or "–" for one in users.values()
        )
        yield f"| `{kind}` | {' | '.join(cells)} | {WITHOUT_KEY[kind]} |"


PROVIDERS = """# Providers: without a long-lived key

An agent or a [judge](judges.md) needs an API key in the environment. With `provider`, Tidegate exchanges the job's OIDC token
for a credential that is valid for about an hour, so no secret is stored:

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

`tidegate init` then writes [workflows](github.md) whose jobs have one more permission, `id-token: write`. Add it to those that you have:

```yaml
    permissions: {contents: read, pull-requests: write, id-token: write}
```

The credential stays in Tidegate's own process. The agent gets a short-lived token of the model proxy, which adds the
credential and allows requests to models alone. `provider` is read from the base branch. It needs the model proxy.

## What works with what

@TABLE@

`amazon-bedrock/…` is untested.

Judges: `anthropic` works with `anthropic`, `bedrock`, `vertex`, `azure` and `compatible`. `openai` works with `openai`,
`bedrock`, `azure` and `compatible`, and `google` with `gemini`, `vertex` and `compatible`.

The action has all libraries. On your own machine, install the one that you need: `pip install 'tidegate[aws]'`. There,
`bedrock`, `vertex` and `azure` use the credentials of AWS's, Google's and Azure's own tools. `tidegate doctor` reports whether there is access.

## Set up the trust

Trust the issuer `https://token.actions.githubusercontent.com`, and restrict the subject to your repository:
`repo:OWNER/NAME:pull_request` for pull requests, `repo:OWNER/NAME:ref:refs/heads/main` for pushes to main.

| `provider` | set up | audience |
|---|---|---|
| `anthropic` | a federation issuer and a rule in the Claude Console | `https://api.anthropic.com` |
| `openai` | a workload identity provider, and a mapping to a service account | `audience` (default: `https://api.openai.com/v1`) |
| `bedrock` | an IAM identity provider, and a role with `bedrock:InvokeModel` and `bedrock:InvokeModelWithResponseStream` | `sts.amazonaws.com` |
| `vertex` | a workload identity pool with a provider, and the role Vertex AI User | `https://iam.googleapis.com/` and the provider's name |
| `azure` | an application with a federated credential, and the role Cognitive Services User | `api://AzureADTokenExchange` |

Anyone who can push a branch to the repository can run a job with this subject. Forks get no OIDC token.

## Your own servers

```yaml
agents:
  local: {type: codex, model: qwen3-coder, provider: {type: compatible, base_url: "http://127.0.0.1:11434/v1"}}
```

Ollama, vLLM, LiteLLM and others have the API of OpenAI, Anthropic or Google. `codex` needs the Responses API. `key` names the
variable with a key, if the server needs one. Trials need no `network` for it.

## If there is no access

Tidegate gets one credential for each agent before the first trial. If it cannot, the run ends with exit code 4:

| message | what to do |
|---|---|
| needs the permission `id-token: write`; GitHub refused an OIDC token | add the permission to the job |
| AWS did not let the job assume the role: `AccessDenied` | check the role's ARN and its trust policy: audience and subject |
| … did not exchange the OIDC token; Azure gave no token: `AADSTS…` | compare provider, credential, rule or mapping with the job: issuer, subject, audience |
| `Signature expired` | correct the machine's time |

If access is refused later, the agent's trials are not measured (*auth*).

## Keys of each provider
""".replace("@TABLE@", "\n".join(_table()))
