"""The provider `bedrock`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Annotated, Any, ClassVar, Literal

from tidegate.agents.providers.access import identity_token, library
from tidegate.model.field_types import Text, matching
from tidegate.model.provider import (
    BEDROCK,
    OPENAI,
    Access,
    AccessError,
    ModelApi,
    ModelProvider,
    ModelRequest,
    SecureAddress,
    in_github,
)

AUDIENCE = "sts.amazonaws.com"
SERVICE = "bedrock"  # in signatures
_SIGNED = ("content-type", "host")  # headers of the request that the signature covers
_REFUSED = "Check the role's trust policy, its permission `bedrock:InvokeModel*`, the region and the clock."


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
                web_identity_token_loader=lambda: identity_token(environ, AUDIENCE),
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
                f"AWS did not let the job assume the role: {code}", _REFUSED, denied=status < 500
            ) from None
        except (BotoCoreError, ResponseParserError) as error:
            what = f"AWS gave no credentials: {type(error).__name__}"
            raise AccessError(what, "Check the region and the network.", denied=False) from None
