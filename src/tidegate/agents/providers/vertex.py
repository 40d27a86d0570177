"""The provider `vertex`."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import quote

from tidegate.agents.providers.access import Token, TokenAccess, identity_token, library
from tidegate.model.field_types import matching
from tidegate.model.provider import (
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

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_POOL = r"projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+"
_CLAUDE = r"publishers/anthropic/models/[\w@.-]+:(rawPredict|streamRawPredict)"
_IAM = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
_REFUSED = "Compare the workload identity provider with the job's OIDC token, and check the role Vertex AI User."


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
            return _OfProject(TokenAccess(lambda: _token(_federated(self, environ))), self)
        try:
            found, _ = google.auth.default(scopes=[SCOPE])
        except DefaultCredentialsError:
            advice = "Set `workload_identity_provider`, or run `gcloud auth application-default login`."
            raise AccessError("no Google credentials were found", advice, denied=True) from None
        return _OfProject(TokenAccess(lambda: _token(found)), self)


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


def _token(credentials: Any) -> Token:
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
        raise AccessError(what, _REFUSED, denied=not error.retryable) from None
    until = credentials.expiry.replace(tzinfo=datetime.UTC).timestamp() if credentials.expiry else 0.0
    return Token(str(credentials.token), until - time.time())
