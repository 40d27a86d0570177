"""The provider `azure`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from tidegate.agents.providers.access import Token, TokenAccess, identity_token, library
from tidegate.model.field_types import Text, matching
from tidegate.model.provider import (
    ANTHROPIC,
    FOUNDRY,
    OPENAI,
    Access,
    AccessError,
    ModelApi,
    ModelProvider,
    SecureAddress,
    in_github,
)

AUDIENCE = "api://AzureADTokenExchange"
_REFUSED = (
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
        return TokenAccess(lambda: _token(self, environ, scope))


def _token(provider: AzureProvider, environ: Mapping[str, str], scope: str) -> Token:
    """Return a new token by Azure's library. Raises AccessError."""
    from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError, ServiceResponseError  # 190 ms
    from azure.identity import ClientAssertionCredential, DefaultAzureCredential

    found: Any
    if provider.client and in_github(environ):
        token = identity_token(environ, AUDIENCE)
        found = ClientAssertionCredential(provider.tenant, provider.client, lambda: token)
    else:
        found = DefaultAzureCredential()
    try:
        with found:
            told = found.get_token(scope)
    except ClientAuthenticationError as error:
        raise AccessError(f"Azure gave no token: {_code(error)}", _REFUSED, denied=True) from None
    except (ServiceRequestError, ServiceResponseError) as error:
        raise AccessError(f"Azure did not answer: {type(error).__name__}", "Check the network.", denied=False) from None
    return Token(str(told.token), told.expires_on - time.time())


def _code(error: Exception) -> str:
    """Return the code that Entra's errors begin with, such as AADSTS700213; nothing that could quote a token."""
    words = (word.strip(":,.") for word in str(error).split())
    return next((word for word in words if word.startswith("AADSTS")), type(error).__name__)
