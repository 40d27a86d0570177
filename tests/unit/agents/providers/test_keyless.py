"""Providers without a long-lived key, by their own libraries, against services that check what they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import TypeAdapter

from tests.asking import Way, ask
from tests.clouds import ACCOUNT, GITHUB, JOB_TOKEN, POOL, ROLE, Clouds, clouds
from tests.make import sure
from tests.model_server import SIDE_ANSWER, Step
from tidegate.agents.providers.access import EARLY, Accesses, Token, TokenAccess
from tidegate.checks.judges import AnyJudge
from tidegate.checks.rubrics.reading import score_form
from tidegate.errors import CannotRunError, MissingKeyError
from tidegate.model.event import End
from tidegate.model.judge import AskModel, JudgeContext, Reply
from tidegate.model.provider import (
    ANTHROPIC,
    BEDROCK,
    FOUNDRY,
    OPENAI,
    VERTEX_CLAUDE,
    VERTEX_GEMINI,
    AccessError,
    ModelRequest,
)

MESSAGES: dict[str, Any] = {
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "?"}],
    "tools": [{"name": "bash"}],
}
RESPONSES: dict[str, Any] = {
    "model": "gpt-5.5",
    "input": [{"role": "user", "content": "?"}],
    "tools": [{"type": "function", "name": "exec_command"}],
    "stream": True,
}
GEMINI: dict[str, Any] = {
    "contents": [{"role": "user", "parts": [{"text": "?"}]}],
    "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
}
CLAUDE = {"model": "claude-haiku-4-5", "stream": True}
AT_VERTEX = "/projects/octo-ai/locations/us-east5/publishers"


AWS = {"type": "bedrock", "region": "us-east-1", "role": ROLE}
GOOGLE = {"type": "vertex", "project": "octo-ai", "region": "us-east5", "workload_identity_provider": POOL}
AZURE = {"type": "azure", "resource": "octo", "tenant": "octo-tenant", "client": "octo-client"}
OF_OPENAI = {"type": "openai", "identity_provider": "idp_1", "service_account": "user_1"}
OF_ANTHROPIC = {"type": "anthropic", "federation_rule": "fdrl_1", "organization": "org-1"}
MODEL = "/model/us.anthropic.claude-haiku-4-5-20251001-v1:0/"
FOR_BEDROCK = {"anthropic_version": "bedrock-2023-05-31", **MESSAGES}
FOR_VERTEX = {"anthropic_version": "vertex-2023-10-16", **MESSAGES}
STS = "sts.us-east-1.amazonaws.com"
WAYS = {
    "bedrock": Way(AWS, BEDROCK, f"{MODEL}invoke-with-response-stream", FOR_BEDROCK, STS),
    "bedrock, at once": Way(AWS, BEDROCK, f"{MODEL}invoke", FOR_BEDROCK, STS),
    "bedrock, encoded": Way(AWS, BEDROCK, f"{MODEL.replace(':', '%3A')}invoke", FOR_BEDROCK, STS),
    "bedrock, openai": Way(AWS, OPENAI, "/responses", RESPONSES, STS),
    "vertex": Way(
        GOOGLE, VERTEX_CLAUDE, f"{AT_VERTEX}/anthropic/models/c@1:streamRawPredict", FOR_VERTEX, "sts.googleapis.com"
    ),
    "vertex, account": Way(
        GOOGLE | {"service_account": ACCOUNT},
        VERTEX_CLAUDE,
        f"{AT_VERTEX}/anthropic/models/c@1:rawPredict",
        FOR_VERTEX,
        "iamcredentials.googleapis.com",
    ),
    "vertex, gemini": Way(
        GOOGLE,
        VERTEX_GEMINI,
        "/v1beta1/publishers/google/models/gemini-3:streamGenerateContent?alt=sse",
        GEMINI,
        "sts.googleapis.com",
    ),
    "azure": Way(AZURE, OPENAI, "/responses", RESPONSES, "login.microsoftonline.com"),
    "azure, claude": Way(AZURE, FOUNDRY, "/v1/messages?beta=true", MESSAGES | CLAUDE, "login.microsoftonline.com"),
    "openai": Way(OF_OPENAI, OPENAI, "/responses", RESPONSES, "auth.openai.com"),
    "anthropic": Way(OF_ANTHROPIC, ANTHROPIC, "/v1/messages", MESSAGES | CLAUDE, "api.anthropic.com"),
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
ONE_PER_CLOUD = ("bedrock", "vertex", "azure", "openai", "anthropic")
each_cloud = pytest.mark.parametrize("way", [WAYS[name] for name in ONE_PER_CLOUD], ids=ONE_PER_CLOUD)


class Job(NamedTuple):
    """A job of a workflow, and the clouds around it."""

    clouds: Clouds
    environ: dict[str, str]

    def ask(self, way: Way, times: int = 1) -> tuple[list[int], End]:
        """What a trial of this job gets from the model proxy, and what the proxy reports of it."""
        statuses, told = ask(way, self.environ, times)
        return statuses, sure(told)

    def check(self, way: Way) -> None:
        """Look for access, as before the first trial."""
        Accesses(self.environ).check("agent claude", way.provider, way.api)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Clouds, dict[str, str]]]:
    with clouds(tmp_path_factory.mktemp("clouds"), [Step("Well.")]) as both:
        yield both


@pytest.fixture
def job(running: tuple[Clouds, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Job:
    server, environ = running
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():  # the clouds' libraries read them there
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server.lasts, server.clock, server.denied, server.audience = 3600.0, 0.0, "", None
    server.denial = 403
    server.asked.clear()
    return Job(server, environ)


@each_way
def test_the_proxy_gets_a_credential_and_counts_the_tokens(way: Way, job: Job) -> None:
    statuses, told = job.ask(way, times=2)
    assert statuses == [200, 200], told.message
    assert not told.tokens_guessed
    assert told.tokens_in
    assert told.tokens_out
    assert job.clouds.hosts().count(GITHUB) == 1, "the credential is kept"


@each_cloud
def test_a_credential_that_expires_in_the_middle_of_a_run_is_renewed(way: Way, job: Job) -> None:
    job.clouds.lasts = 5.0  # less than the time before the end at which libraries renew
    statuses, told = job.ask(way, times=2)
    assert statuses == [200, 200], told.message
    assert job.clouds.hosts().count(GITHUB) >= 2


@each_cloud
def test_a_token_of_another_audience_is_refused_before_the_run(way: Way, job: Job) -> None:
    job.clouds.audience = "somebody-else"
    with pytest.raises(CannotRunError) as raised:
        job.check(way)
    assert raised.value.message.startswith(f"The agent claude has no access to {way.written['type']}: ")
    assert raised.value.advice


@each_cloud
def test_a_refusal_in_the_middle_is_an_end_by_auth_without_anything_of_a_credential(
    way: Way, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    job.clouds.denied = way.identity
    statuses, told = job.ask(way)
    assert statuses == [401]
    assert told.end == "auth"
    assert "cloud-token" not in told.message
    assert "ey" + "J" not in told.message
    assert JOB_TOKEN not in told.message
    assert not [record for record in caplog.records if record.levelname != "INFO"], "libraries log what they get"


@each_cloud
def test_without_the_permission_the_sentence_names_it(way: Way, job: Job) -> None:
    environ = {name: value for name, value in job.environ.items() if not name.startswith("ACTIONS_")}
    with pytest.raises(MissingKeyError) as raised:
        Job(job.clouds, environ).check(way)
    assert raised.value.exit_code == 4
    kind = way.written["type"]
    assert raised.value.message == f"The agent claude ({kind}) needs the permission `id-token: write`."
    assert job.clouds.asked == []


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@pytest.mark.parametrize(("status", "end"), [(429, "outage"), (400, "auth")])
def test_a_service_that_has_too_much_to_do_is_asked_again(name: str, status: int, end: str, job: Job) -> None:
    job.clouds.denied, job.clouds.denial = WAYS[name].identity, status
    _, told = job.ask(WAYS[name])
    assert (told.end, f"HTTP {status}" in told.message) == (end, True)


def test_github_s_service_is_asked_again_if_it_is_busy(job: Job) -> None:
    job.clouds.busy = 1
    statuses, _ = job.ask(WAYS["anthropic"])
    assert statuses == [200]


def test_a_token_is_used_to_its_end_while_there_is_no_new_one() -> None:
    tokens = [Token("first", EARLY / 2)]

    def fetch() -> Token:
        if tokens:
            return tokens.pop()
        raise AccessError("no answer", "", denied=False)

    access = TokenAccess(fetch)
    sent = [access.authorized(ModelRequest("GET", "https://h.example", {})) for _ in range(2)]
    assert [one.headers["authorization"] for one in sent] == ["Bearer first"] * 2


def test_azure_s_refusal_is_named_by_its_code_alone(job: Job) -> None:
    job.clouds.audience = "somebody-else"
    with pytest.raises(CannotRunError) as raised:
        job.check(WAYS["azure"])
    assert raised.value.message.endswith("Azure gave no token: AADSTS700213.")


def test_another_role_is_refused_by_its_code(job: Job) -> None:
    other = WAYS["bedrock"]._replace(written=AWS | {"role": ROLE + "-of-another"})
    with pytest.raises(CannotRunError, match="did not let the job assume the role: AccessDenied"):
        job.check(other)


def test_a_clock_that_is_wrong_ends_the_trial_with_the_providers_words(job: Job) -> None:
    job.clouds.clock = 3600.0
    statuses, told = job.ask(WAYS["bedrock"])
    assert statuses == [403]
    assert told.end == "auth"
    assert "Signature expired" in told.message


def test_a_service_that_is_down_is_an_outage(job: Job) -> None:
    environ = job.environ | {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://nowhere.invalid/?a=b"}
    statuses, told = Job(job.clouds, environ).ask(WAYS["anthropic"])
    assert statuses == [503]
    assert told.end == "outage"


JUDGES = {
    "bedrock": {"type": "anthropic", "model": "us.anthropic.claude-haiku-4-5-20251001-v1:0", "provider": AWS},
    "bedrock, openai": {"type": "openai", "model": "openai.gpt-oss-120b-1:0", "provider": AWS},
    "vertex": {"type": "anthropic", "model": "claude-haiku-4-5@20251001", "provider": GOOGLE},
    "vertex, gemini": {"type": "google", "model": "gemini-3", "provider": GOOGLE},
    "azure": {"type": "openai", "model": "deployment", "provider": AZURE},
    "azure, claude": {"type": "anthropic", "model": "deployment", "provider": AZURE},
    "openai": {"type": "openai", "model": "gpt-5.5", "provider": OF_OPENAI},
    "anthropic": {"type": "anthropic", "model": "claude-haiku-4-5", "provider": OF_ANTHROPIC},
}
each_judge = pytest.mark.parametrize("written", JUDGES.values(), ids=JUDGES.keys())


def judged(written: dict[str, Any], environ: dict[str, str]) -> list[Reply]:
    """What a judge of this job replies to two questions."""
    judge = TypeAdapter(AnyJudge).validate_python(written)

    async def ask_twice() -> list[Reply]:
        question = AskModel(system="You judge.", before="the work", answer_schema=score_form())
        async with judge.opened(JudgeContext(Path(), environ)) as ask:
            return [await ask(question, sample) for sample in (1, 2)]

    return asyncio.run(ask_twice())


@each_judge
def test_a_judge_reaches_its_model_without_a_key(written: dict[str, Any], job: Job) -> None:
    replies = judged(written, job.environ)
    assert [(reply.end, reply.message) for reply in replies] == [("answered", "")] * 2
    assert all(reply.text == SIDE_ANSWER and reply.tokens_in for reply in replies)
    assert job.clouds.hosts().count(GITHUB) == 1, "the credential is kept"


@each_judge
def test_a_judge_without_the_permission_is_not_asked(written: dict[str, Any], job: Job) -> None:
    environ = {name: value for name, value in job.environ.items() if not name.startswith("ACTIONS_")}
    reply, _ = judged(written, environ)
    said = f"the judge {written['type']} needs the permission `id-token: write`"
    assert (reply.end, reply.message) == ("no_judge", said)
    assert job.clouds.asked == []


@pytest.mark.parametrize("name", [name for name in JUDGES if name in ONE_PER_CLOUD])
def test_a_judge_that_is_refused_says_nothing_of_a_credential(name: str, job: Job) -> None:
    job.clouds.denied = WAYS[name].identity
    reply, _ = judged(JUDGES[name], job.environ)
    assert reply.end == "auth"
    assert not any(secret in reply.message for secret in ("cloud-token", "ey" + "J", JOB_TOKEN))


def test_a_request_for_another_project_gets_no_credential(job: Job) -> None:
    other = WAYS["vertex"].path.replace("octo-ai", "other")
    statuses, _ = ask(WAYS["vertex"]._replace(path=other), job.environ)
    assert statuses == [404]
    assert job.clouds.asked == []
