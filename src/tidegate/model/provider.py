"""The interface of model providers: where models are, which APIs they have, and how Tidegate gets access."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple, Protocol, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, model_validator

from tidegate.model.field_types import wrong
from tidegate.model.value import Value

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")  # of requests to models
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_URL, TOKEN_KEY = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # of GitHub's OIDC service


class ModelApi(NamedTuple):
    """An API of models, as an agent's program uses it.

    It has the program's variables for the key and the address, the default address, and the requests that agents may
    send.
    """

    key: str
    endpoint: str
    address: str  # used unless the `endpoint` variable is set
    paths: tuple[str, ...]  # regular expressions of the allowed request paths, relative to the address


class ModelRequest(NamedTuple):
    """A request to a provider. The names of headers are lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""

    def without_keys(self, **more: str) -> "ModelRequest":
        """Return the request without the headers for keys, with `more` headers; `_` in a name stands for `-`."""
        kept = {name: value for name, value in self.headers.items() if name not in KEY_HEADERS}
        return self._replace(headers=kept | {name.replace("_", "-"): value for name, value in more.items()})


class AccessError(Exception):
    """Raised when a provider gives no access. `denied`: it refused; otherwise it did not answer, and may do so later.

    Message and advice contain nothing of a credential.
    """

    def __init__(self, message: str, advice: str, *, denied: bool) -> None:
        super().__init__(message)
        self.advice = advice
        self.denied = denied


class Access(Protocol):
    """Access to a provider during a run. Credentials are kept, and renewed before they expire."""

    def authorized(self, request: ModelRequest) -> "ModelRequest":
        """Return the request with a valid credential. Several threads call it. Raises AccessError."""


def _address(text: str) -> str:
    place = urlsplit(text)
    if place.scheme not in ("http", "https") or not place.hostname or place.username or place.query or place.fragment:
        raise wrong("must be an address such as `https://HOST/PATH`")
    return text.rstrip("/")


def _secure_address(text: str) -> str:
    address = _address(text)
    if not address.startswith("https:") and urlsplit(address).hostname not in LOOPBACK:
        raise wrong("must begin with `https://`, since a credential is sent there")
    return address


Address = Annotated[str, AfterValidator(_address)]
SecureAddress = Annotated[str, AfterValidator(_secure_address)]


class ModelProvider(Value):
    """Where the models of an agent or a judge are. `base_url` replaces the provider's own address."""

    identity: ClassVar[tuple[str, ...]] = ()  # the fields that say how GitHub's OIDC token is exchanged
    serves: ClassVar[tuple[ModelApi, ...]]  # of those that an agent or a judge can use, the first is used

    type: str

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.keyless and any(getattr(self, name) is None for name in self.identity):
            raise wrong(f"needs both {' and '.join(f'`{name}`' for name in self.identity)}, or neither")
        return self

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables with the key, if there is one."""
        return ()

    @property
    def keyless(self) -> bool:
        """True if the suite says how GitHub's OIDC token is exchanged for a credential."""
        return any(getattr(self, name) is not None for name in self.identity)

    @classmethod
    def api_of(cls, usable: Sequence[ModelApi]) -> ModelApi | None:
        """Return the API by which an agent or a judge uses it that can use these; None if it has none of them."""
        return next((api for api in cls.serves if api in usable), None)

    def address(self, api: ModelApi) -> str:
        """Return the address of the API at this provider."""
        raise NotImplementedError

    def narrowed(self, api: ModelApi) -> ModelApi:
        """Return the API with the requests that agents may send to this provider."""
        return api

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return what is missing for access, such as `a key in X`; None if nothing is known to be missing."""
        if self.keyless:
            has_identity = not in_github(environ) or (environ.get(TOKEN_URL) and environ.get(TOKEN_KEY))
            return None if has_identity else "the permission `id-token: write`"
        return next((f"a key in {name}" for name in self.variables if not environ.get(name)), None)

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access for a run. No request is sent yet. Raises AccessError if a library is missing."""
        raise NotImplementedError


def in_github(environ: Mapping[str, str]) -> bool:
    """Return True if this is a job of GitHub Actions."""
    return environ.get("GITHUB_ACTIONS") == "true"


ANTHROPIC = ModelApi(
    key="ANTHROPIC_API_KEY",
    endpoint="ANTHROPIC_BASE_URL",
    address="https://api.anthropic.com",
    paths=(r"(/v1)?/messages(/count_tokens)?", r"(/v1)?/models(/[\w.:-]+)?"),
)
OPENAI = ModelApi(
    key="OPENAI_API_KEY",
    endpoint="OPENAI_BASE_URL",
    address="https://api.openai.com/v1",
    paths=(r"/responses(/compact)?", r"/chat/completions", r"/models(/[\w.:-]+)?"),
)
GOOGLE = ModelApi(
    key="GEMINI_API_KEY",
    endpoint="GOOGLE_GEMINI_BASE_URL",
    address="https://generativelanguage.googleapis.com",
    paths=(r"/v1(beta|alpha)?/models(/[\w.-]+(:(generateContent|streamGenerateContent|countTokens))?)?",),
)

# Without a default address: the suite names the provider.
BEDROCK = ModelApi(
    key="AWS_BEARER_TOKEN_BEDROCK",
    endpoint="ANTHROPIC_BEDROCK_BASE_URL",
    address="",
    paths=(r"/model/[^/]+/(invoke(-with-response-stream)?|converse(-stream)?)",),
)
VERTEX_CLAUDE = ModelApi(
    key="ANTHROPIC_AUTH_TOKEN",
    endpoint="ANTHROPIC_VERTEX_BASE_URL",
    address="",
    paths=(),  # those that name the suite's project
)
VERTEX_GEMINI = ModelApi(
    key="GOOGLE_API_KEY",
    endpoint="GOOGLE_VERTEX_BASE_URL",
    address="",
    paths=(r"/v1(beta1)?/publishers/google/models/[\w.-]+:(generateContent|streamGenerateContent|countTokens)",),
)
FOUNDRY = ModelApi(
    key="ANTHROPIC_FOUNDRY_API_KEY",
    endpoint="ANTHROPIC_FOUNDRY_BASE_URL",
    address="",
    paths=ANTHROPIC.paths,
)
