"""The providers `azure`, `bedrock` and `vertex`: clouds with identities of their own."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import quote

from tidegate.agents.providers.access import Token, TokenAccess, identity_token, library
from tidegate.model.field_types import Text, matching
from tidegate.model.provider import (
    ANTHROPIC,
    BEDROCK,
    FOUNDRY,
    OPENAI,
    VERTEX_CLAUDE,
    VERTEX_GEMINI,
    Access,
    AccessError,
    ModelApi,
    ModelProvider,
    ModelRequest,
    SecureAddress,
    in_github,
)

AZURE_AUDIENCE = "api://AzureADTokenExchange"
_AZURE_ADVICE = (
    "Compare the application's federated credential with the job's OIDC token: issuer, subject, audience; and give it "
    "the role Cognitive Services User."
)


class AzureProvider(ModelProvider):
    """Azure OpenAI and Microsoft Foundry. A GitHub workflow exchanges its OIDC token for one of Microsoft Entra.

    `resource` is the name of the resource: models of OpenAI are at `RESOURCE.openai.azure.com/openai/v1`, Claude at
    `RESOURCE.services.ai.azure.com/anthropic`; `base_url` replaces that address. `model` is the name of the deployment.
    `tenant` and `client` are the IDs of the directory and of the application. Without them, and outside of GitHub,
    credentials are those that Azure's tools find. Needs `tidegate[azure]`.
    """

    identity: ClassVar[tuple[str, ...]] = ("tenant", "client")
    serves: ClassVar[tuple[ModelApi, ...]] = (FOUNDRY, ANTHROPIC, OPENAI)

    type: Literal["azure"]
    resource: Annotated[str, matching(r"[A-Za-z0-9-]+", "must be the name of a resource")]
    tenant: Text | None = None
    client: Text | None = None
    base_url: SecureAddress | None = None

    def address(self, api: ModelApi) -> str:
        """Return the address of the models of OpenAI, or of Anthropic."""
        ours = (
            f"https://{self.resource}.openai.azure.com/openai/v1"
            if api == OPENAI
            else f"https://{self.resource}.services.ai.azure.com/anthropic"
        )
        return self.base_url or ours

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access by azure-identity."""
        library("azure.identity", "azure")
        scope = "https://cognitiveservices.azure.com/.default" if api == OPENAI else "https://ai.azure.com/.default"
        return TokenAccess(lambda: _of_entra(self, environ, scope))


def _of_entra(provider: AzureProvider, environ: Mapping[str, str], scope: str) -> Token:
    """Return a new token by Azure's library. Raises AccessError."""
    from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError, ServiceResponseError  # 190 ms
    from azure.identity import ClientAssertionCredential, DefaultAzureCredential

    found: Any
    if provider.client and in_github(environ):
        token = identity_token(environ, AZURE_AUDIENCE)
        found = ClientAssertionCredential(provider.tenant, provider.client, lambda: token)
    else:
        found = DefaultAzureCredential()
    try:
        with found:
            told = found.get_token(scope)
    except ClientAuthenticationError as error:
        raise AccessError(f"Azure gave no token: {_code(error)}", _AZURE_ADVICE, denied=True) from None
    except (ServiceRequestError, ServiceResponseError) as error:
        raise AccessError(f"Azure did not answer: {type(error).__name__}", "Check the network.", denied=False) from None
    return Token(str(told.token), told.expires_on - time.time())


def _code(error: Exception) -> str:
    """Return the code that Entra's errors begin with, such as AADSTS700213; nothing that could quote a token."""
    words = (word.strip(":,.") for word in str(error).split())
    return next((word for word in words if word.startswith("AADSTS")), type(error).__name__)


AWS_AUDIENCE = "sts.amazonaws.com"
SERVICE = "bedrock"  # in signatures
_SIGNED = ("content-type", "host")  # headers of the request that the signature covers
_AWS_ADVICE = "Check the role's trust policy, its permission `bedrock:InvokeModel*`, the region and the clock."


class BedrockProvider(ModelProvider):
    """Amazon Bedrock. `role` is the ARN of the IAM role that a GitHub workflow assumes with its OIDC token.

    Without `role`, and outside of GitHub, credentials are those that AWS's tools find. Requests are signed by the model
    proxy. Needs `tidegate[aws]`.
    """

    identity: ClassVar[tuple[str, ...]] = ("role",)
    serves: ClassVar[tuple[ModelApi, ...]] = (BEDROCK, OPENAI)

    type: Literal["bedrock"]
    region: Annotated[str, matching(r"[a-z0-9-]+", "must be a region such as `us-east-1`")]
    role: Text | None = None
    base_url: SecureAddress | None = None

    def address(self, api: ModelApi) -> str:
        """Return the address of the runtime; models of OpenAI have a folder of their own there."""
        address = self.base_url or f"https://bedrock-runtime.{self.region}.amazonaws.com"
        return f"{address}/openai/v1" if api == OPENAI else address

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access by botocore, which assumes the role, renews the credentials and signs."""
        library("botocore", "aws")
        from botocore.session import Session  # 130 ms

        session = Session()
        found = _of_role(session, self, environ) if self.role and in_github(environ) else session.get_credentials()
        if found is None:
            raise AccessError("no AWS credentials were found", "Set `role`, or sign in to AWS.", denied=True)
        return _Signed(found, self.region)


def _of_role(session: Any, provider: BedrockProvider, environ: Mapping[str, str]) -> Any:
    """Return credentials of the role, which are renewed by another OIDC token before they expire."""
    from botocore.credentials import (
        AssumeRoleWithWebIdentityCredentialFetcher,
        DeferredRefreshableCredentials,
    )  # 100 ms

    def fetch() -> Any:
        with ExitStack() as opened:

            def client(name: str, **more: Any) -> Any:
                return opened.enter_context(closing(session.create_client(name, region_name=provider.region, **more)))

            return AssumeRoleWithWebIdentityCredentialFetcher(
                client_creator=client,
                web_identity_token_loader=lambda: identity_token(environ, AWS_AUDIENCE),
                role_arn=provider.role,
                extra_args={"RoleSessionName": f"tidegate-{environ.get('GITHUB_RUN_ID', 'run')}"},
            ).fetch_credentials()

    return DeferredRefreshableCredentials(refresh_using=fetch, method="assume-role-with-web-identity")


class _Signed:
    """Signs requests with AWS's Signature Version 4."""

    def __init__(self, credentials: Any, region: str) -> None:
        self._credentials = credentials
        self._region = region

    def authorized(self, request: ModelRequest) -> ModelRequest:
        """Return the request with its signature."""
        from botocore.auth import SigV4Auth  # 100 ms
        from botocore.awsrequest import AWSRequest

        sent = request.without_keys()
        signed = AWSRequest(
            method=sent.method,
            url=sent.url,
            headers={name: sent.headers[name] for name in _SIGNED if name in sent.headers},
            data=sent.body,
        )
        SigV4Auth(self._frozen(), SERVICE, self._region).add_auth(signed)
        return sent._replace(
            headers={**sent.headers, **{name.lower(): value for name, value in signed.headers.items()}}
        )

    def _frozen(self) -> Any:
        """Return the credentials as they are now. botocore renews them ten minutes before they expire."""
        from botocore.exceptions import BotoCoreError, ClientError  # 80 ms
        from botocore.parsers import ResponseParserError

        try:
            return self._credentials.get_frozen_credentials()
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "an error"))
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
            raise AccessError(
                f"AWS did not let the job assume the role: {code}", _AWS_ADVICE, denied=status < 500
            ) from None
        except (BotoCoreError, ResponseParserError) as error:
            what = f"AWS gave no credentials: {type(error).__name__}"
            raise AccessError(what, "Check the region and the network.", denied=False) from None


SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_POOL = r"projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+"
_CLAUDE = r"publishers/anthropic/models/[\w@.-]+:(rawPredict|streamRawPredict)"
_IAM = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
_GOOGLE_ADVICE = "Compare the workload identity provider with the job's OIDC token, and check the role Vertex AI User."


class VertexProvider(ModelProvider):
    """Google's Vertex AI. A GitHub workflow exchanges its OIDC token by a workload identity provider.

    `workload_identity_provider` is `projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/NAME`, and
    `service_account` the address of the account to act as, if there is one. Without it, and outside of GitHub,
    credentials are those that Google's tools find. Needs `tidegate[google]`.
    """

    identity: ClassVar[tuple[str, ...]] = ("workload_identity_provider",)
    serves: ClassVar[tuple[ModelApi, ...]] = (VERTEX_CLAUDE, VERTEX_GEMINI)

    type: Literal["vertex"]
    project: Annotated[str, matching(r"[a-z0-9:.-]+", "must be the ID of a project")]
    region: Annotated[str, matching(r"[a-z0-9-]+", "must be a region such as `us-east5`, or `global`")]
    workload_identity_provider: Annotated[str, matching(_POOL, "must be `projects/NUMBER/…/providers/NAME`")] | None = (
        None
    )
    service_account: Annotated[str, matching(r"[^@/\s]+@[^@/\s]+", "must be an address")] | None = None
    base_url: SecureAddress | None = None

    def address(self, api: ModelApi) -> str:
        """Return the address of the region's service; its version is a part of it for Claude alone."""
        host = "aiplatform" if self.region == "global" else f"{self.region}-aiplatform"
        address = self.base_url or f"https://{host}.googleapis.com"
        return address if api == VERTEX_GEMINI else f"{address}/v1"

    def narrowed(self, api: ModelApi) -> ModelApi:
        """Allow requests to the suite's project alone: the account may have others."""
        if api == VERTEX_GEMINI:  # names no project
            return api
        return api._replace(paths=(rf"/projects/{re.escape(self.project)}/locations/{self.region}/{_CLAUDE}",))

    def access(self, environ: Mapping[str, str], api: ModelApi) -> Access:
        """Return access by google-auth, which exchanges the token and renews it."""
        library("google.auth", "google")
        import google.auth  # an optional library
        from google.auth.exceptions import DefaultCredentialsError

        if self.workload_identity_provider and in_github(environ):
            return _OfProject(TokenAccess(lambda: _of_google(_federated(self, environ))), self)
        try:
            found, _ = google.auth.default(scopes=[SCOPE])
        except DefaultCredentialsError:
            advice = "Set `workload_identity_provider`, or run `gcloud auth application-default login`."
            raise AccessError("no Google credentials were found", advice, denied=True) from None
        return _OfProject(TokenAccess(lambda: _of_google(found)), self)


class _OfProject(NamedTuple):
    """Sends requests to the project of the suite, which Gemini CLI leaves out where it has a key."""

    access: TokenAccess
    provider: VertexProvider

    def authorized(self, request: ModelRequest) -> ModelRequest:
        """Return the request with a token."""
        place = f"/projects/{self.provider.project}/locations/{self.provider.region}/publishers/"
        if "/projects/" not in request.url:
            request = request._replace(url=request.url.replace("/publishers/", place, 1))
        return self.access.authorized(request)


def _federated(provider: VertexProvider, environ: Mapping[str, str]) -> Any:
    """Return credentials that exchange an OIDC token, and then act as the service account if there is one."""
    from google.auth.identity_pool import Credentials, SubjectTokenSupplier  # 90 ms

    pool, account = provider.workload_identity_provider, provider.service_account

    class Supplier(SubjectTokenSupplier):  # type: ignore[misc]
        def get_subject_token(self, context: Any, request: Any) -> str:
            return identity_token(environ, f"https://iam.googleapis.com/{pool}")

    return Credentials(
        audience=f"//iam.googleapis.com/{pool}",
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        token_url="https://sts.googleapis.com/v1/token",
        subject_token_supplier=Supplier(),
        service_account_impersonation_url=f"{_IAM}/{quote(account)}:generateAccessToken" if account else None,
        scopes=[SCOPE],
    )


def _of_google(credentials: Any) -> Token:
    """Return a new token by Google's library. Raises AccessError."""
    import requests  # 150 ms
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.auth.transport.requests import Request

    try:
        with requests.Session() as session:
            credentials.refresh(Request(session))
    except TransportError as error:
        raise AccessError(
            f"Google did not answer: {type(error).__name__}", "Check the network.", denied=False
        ) from None
    except GoogleAuthError as error:
        what = f"Google did not exchange the OIDC token: {type(error).__name__}"
        raise AccessError(what, _GOOGLE_ADVICE, denied=not error.retryable) from None
    until = credentials.expiry.replace(tzinfo=datetime.UTC).timestamp() if credentials.expiry else 0.0
    return Token(str(credentials.token), until - time.time())
