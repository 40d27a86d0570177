"""Clouds on loopback: identity services that check what they are sent, and models that check who asks.

One server has all of their host names, with a certificate of its own authority. Programs reach it by HTTPS_PROXY, so
they ask the real addresses. GitHub's OIDC service is one of the hosts.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import re
import secrets
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import time
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from tests.model_server import ModelServer, Step, Stream, gemini, messages, responses

Json = dict[str, Any]
GITHUB = "pipelines.actions.githubusercontent.com"
SUBJECT = "repo:octo/tool:pull_request"
JOB_TOKEN = "token-of-the-job-0123456789"
HOSTS = (
    *(GITHUB, "sts.us-east-1.amazonaws.com", "bedrock-runtime.us-east-1.amazonaws.com", "sts.googleapis.com"),
    *("iamcredentials.googleapis.com", "us-east5-aiplatform.googleapis.com", "login.microsoftonline.com"),
    *("octo.openai.azure.com", "octo.services.ai.azure.com", "auth.openai.com", "api.openai.com", "api.anthropic.com"),
)
POOL = "projects/123/locations/global/workloadIdentityPools/github/providers/octo"
ACCOUNT = "models@octo.iam.gserviceaccount.com"
ROLE = "arn:aws:iam::123456789012:role/models"
FORM = "urn:ietf:params:oauth:token-type:jwt"


class Refused(Exception):  # noqa: N818
    """A request that the cloud refuses, with the status and the body of its answer."""

    def __init__(self, status: int, body: Json | str) -> None:
        super().__init__(str(body))
        self.status = status
        self.body = body


class Clouds(ThreadingHTTPServer):
    """The server. `lasts`: seconds that credentials are valid; `asked` has the host and the path of each request.

    `denied` is a host that refuses, with the status `denial`; `clock` is added to the clock of AWS's models. `busy`:
    how often GitHub's service answers with 503 first.
    """

    daemon_threads = True

    def __init__(self, folder: Path, steps: list[Step]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.authority = _certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, folder / "key.pem")
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.model = ModelServer(steps)
        self.model.server_close()  # only its steps are used
        self.signer = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.lasts, self.clock = 3600.0, 0.0
        self.denied, self.denial = "", 403
        self.busy = 0
        self.audience: str | None = None  # of GitHub's tokens, in place of the one that was asked for
        self.asked: list[tuple[str, str]] = []
        self.tokens: dict[str, float] = {}  # and until when each is valid
        self.secrets: dict[str, tuple[str, str, float]] = {}  # access key: secret, session token, until when

    def handle_error(self, *_: object) -> None:
        """Nothing on stderr."""

    def hosts(self, path: str = "") -> list[str]:
        """Which hosts were asked, at paths with this text."""
        return [host for host, where in self.asked if path in where]

    def environment(self, proxy: int) -> dict[str, str]:
        """The variables by which a job of GitHub reaches this server."""
        return {
            "GITHUB_ACTIONS": "true",
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"https://{GITHUB}/token?api-version=2.0",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": JOB_TOKEN,
            "HTTPS_PROXY": f"http://127.0.0.1:{proxy}",
            "NO_PROXY": "127.0.0.1,localhost",
            **dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"), str(self.authority)),
        }

    def issued(self) -> str:
        """A new bearer token."""
        token = f"cloud-token-{secrets.token_hex(16)}"
        self.tokens[token] = time() + self.lasts
        return token

    def check_identity(self, token: str, audience: str) -> None:
        """Refuse a token that GitHub has not signed, or that is of another audience or subject, or too old."""
        try:
            claims = jwt.decode(
                token, self.signer.public_key(), algorithms=["RS256"], audience=audience, issuer=f"https://{GITHUB}"
            )
        except jwt.InvalidTokenError as error:
            raise Refused(
                400, {"error": "invalid_grant", "error_description": f"AADSTS700213: {type(error).__name__}"}
            ) from None
        if claims["sub"] != SUBJECT:
            raise Refused(400, {"error": "invalid_grant"})

    def check_bearer(self, value: str) -> None:
        """Refuse what is not a token that is valid now."""
        if self.tokens.get(value.removeprefix("Bearer "), 0.0) < time():
            raise Refused(401, {"error": {"message": "the token is not valid"}})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Clouds

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        host = self.headers["host"]
        self.server.asked.append((host, self.path))
        try:
            if host == self.server.denied and host.startswith("sts.us"):
                raise Refused(403, _AWS_ERROR.format("AccessDenied"))
            if host == self.server.denied:
                raise Refused(self.server.denial, {"error": {"message": "denied"}})
            status, kind, answer = 200, *_answer_of(host)(self, body)
        except Refused as refused:
            status, kind = refused.status, "text/xml" if isinstance(refused.body, str) else "application/json"
            answer = refused.body.encode() if isinstance(refused.body, str) else json.dumps(refused.body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


_AWS_ERROR = (
    "<ErrorResponse><Error><Type>Sender</Type><Code>{}</Code><Message>no</Message></Error>"
    "<RequestId>1</RequestId></ErrorResponse>"
)
Answer = tuple[str, bytes]


def _json(data: Json) -> Answer:
    return "application/json", json.dumps(data).encode()


def _form(body: bytes) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(body.decode()).items()}


def _github(one: _Handler, _: bytes) -> Answer:
    if one.server.busy:
        one.server.busy -= 1
        raise Refused(503, {"message": "busy"})
    if one.headers["authorization"] != f"bearer {JOB_TOKEN}":
        raise Refused(401, {"message": "no"})
    asked = parse_qs(urlsplit(one.path).query)
    audience = one.server.audience or asked["audience"][0]
    now = int(time())
    claims = {"iss": f"https://{GITHUB}", "sub": SUBJECT, "aud": audience, "iat": now, "exp": now + 300}
    return _json({"value": jwt.encode(claims, one.server.signer, algorithm="RS256")})


def _aws_sts(one: _Handler, body: bytes) -> Answer:
    asked = _form(body)
    if asked["Action"] != "AssumeRoleWithWebIdentity" or "authorization" in one.headers:
        raise Refused(400, _AWS_ERROR.format("InvalidAction"))
    try:
        one.server.check_identity(asked["WebIdentityToken"], "sts.amazonaws.com")
    except Refused:
        raise Refused(400, _AWS_ERROR.format("InvalidIdentityToken")) from None
    if asked["RoleArn"] != ROLE:
        raise Refused(403, _AWS_ERROR.format("AccessDenied"))
    key, secret, session = f"ASIA{secrets.token_hex(8).upper()}", secrets.token_hex(20), f"cloud-token-{one.path}"
    until = datetime.datetime.fromtimestamp(time() + one.server.lasts, datetime.UTC)
    one.server.secrets[key] = secret, session, until.timestamp()
    said = (
        f"<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>"
        f"<SessionToken>{session}</SessionToken><Expiration>{until:%Y-%m-%dT%H:%M:%SZ}</Expiration>"
    )
    name = "AssumeRoleWithWebIdentity"
    return "text/xml", (
        f'<{name}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{name}Result><Credentials>{said}'
        f"</Credentials></{name}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{name}Response>"
    ).encode()


def _check_signature(one: _Handler, body: bytes) -> None:
    """Compute Signature Version 4 once more, with the secret that belongs to the access key."""
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/(\w+)/aws4_request, SignedHeaders=([\w;-]+), "
        r"Signature=([0-9a-f]{64})",
        one.headers.get("authorization", ""),
    )
    if found is None:
        raise Refused(403, {"message": "Missing Authentication Token"})
    key, day, region, service, names, signature = found.groups()
    secret, session, until = one.server.secrets.get(key, ("", "", 0.0))
    if until < time() or one.headers["x-amz-security-token"] != session:
        raise Refused(403, {"message": "The security token included in the request is expired"})
    if (region, service) != ("us-east-1", "bedrock") or not {"host", "x-amz-date"} <= set(names.split(";")):
        raise Refused(403, {"message": "Credential should be scoped to a valid region"})
    at = one.headers["x-amz-date"]
    sent = datetime.datetime.strptime(at, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC).timestamp()
    if abs(time() + one.server.clock - sent) > 300:
        raise Refused(403, {"message": f"Signature expired: {at} is now earlier than it may be"})
    path, _, query = one.path.partition("?")
    signed = "".join(f"{name}:{' '.join(one.headers[name].split())}\n" for name in names.split(";"))
    canonical = "\n".join((one.command, quote(path, safe="/~"), query, signed, names, hashlib.sha256(body).hexdigest()))
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", at, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    derived = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        derived = hmac.digest(derived, part.encode(), "sha256")
    if not hmac.compare_digest(hmac.digest(derived, text.encode(), "sha256").hex(), signature):
        raise Refused(403, {"message": "The request signature we calculated does not match"})


def _bedrock(one: _Handler, body: bytes) -> Answer:
    _check_signature(one, body)
    path = urlsplit(one.path).path
    asked = json.loads(body)
    if path == "/openai/v1/responses":
        return _played(responses(one.server.model, asked), streamed=bool(asked.get("stream")))
    if asked.get("anthropic_version") is None or "model" in asked:
        raise Refused(400, {"message": "this is not a body of Bedrock"})
    whole, stream = messages(one.server.model, asked | {"model": "m"})
    if not path.endswith("-stream"):
        return _json(whole)
    frames = (frame({"bytes": base64.b64encode(json.dumps(data).encode()).decode(), "p": "abc"}) for _, data in stream)
    return "application/vnd.amazon.eventstream", b"".join(frames)


def frame(payload: Json) -> bytes:
    """One message of Amazon's event stream."""
    headers = b"".join(
        bytes([len(name)]) + name + b"\x07" + len(value).to_bytes(2, "big") + value
        for name, value in (
            (b":event-type", b"chunk"),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    data = json.dumps(payload).encode()
    prelude = (16 + len(headers) + len(data)).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    message = prelude + zlib.crc32(prelude).to_bytes(4, "big") + headers + data
    return message + zlib.crc32(message).to_bytes(4, "big")


def _played(answer: tuple[Json, Stream], *, streamed: bool) -> Answer:
    whole, stream = answer
    return _stream(stream) if streamed else _json(whole)


def _stream(events: Stream) -> Answer:
    lines = (
        f"event: {name}\ndata: {json.dumps(data)}\n\n" if name else f"data: {json.dumps(data)}\n\n"
        for name, data in events
    )
    return "text/event-stream", "".join(lines).encode()


def _google_sts(one: _Handler, body: bytes) -> Answer:
    asked = _form(body)
    expected = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "audience": f"//iam.googleapis.com/{POOL}",
        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "subject_token_type": FORM,
    }
    scopes = {f"https://www.googleapis.com/auth/{name}" for name in ("cloud-platform", "iam")}
    if {name: asked.get(name) for name in expected} != expected or asked["scope"] not in scopes:
        raise Refused(400, {"error": "invalid_request"})
    one.server.check_identity(asked["subject_token"], f"https://iam.googleapis.com/{POOL}")
    return _json({"access_token": one.server.issued(), "token_type": "Bearer", "expires_in": int(one.server.lasts)})


def _google_iam(one: _Handler, body: bytes) -> Answer:
    one.server.check_bearer(one.headers["authorization"])
    if one.path != f"/v1/projects/-/serviceAccounts/{quote(ACCOUNT)}:generateAccessToken":
        raise Refused(404, {"error": {"message": one.path}})
    until = datetime.datetime.fromtimestamp(time() + one.server.lasts, datetime.UTC)
    return _json({"accessToken": one.server.issued(), "expireTime": f"{until:%Y-%m-%dT%H:%M:%SZ}"})


def _vertex(one: _Handler, body: bytes) -> Answer:
    one.server.check_bearer(one.headers["authorization"])
    asked = json.loads(body)
    if "/publishers/google/" in one.path and re.match("/v1(beta1)?/projects/octo-ai/locations/us-east5/", one.path):
        return _played(gemini(one.server.model, asked), streamed=":stream" in one.path)
    if not one.path.startswith("/v1/projects/octo-ai/locations/us-east5/publishers/anthropic/models/"):
        raise Refused(404, {"error": {"message": one.path}})
    if asked.get("anthropic_version") != "vertex-2023-10-16" or "model" in asked:
        raise Refused(400, {"error": {"message": "this is not a body of Vertex"}})
    answer = messages(one.server.model, asked | {"model": "m"})
    return _played(answer, streamed=one.path.endswith(":streamRawPredict"))


def _entra(one: _Handler, body: bytes) -> Answer:
    tenant = "https://login.microsoftonline.com/octo-tenant"
    if one.path.startswith("/common/discovery"):
        discovery = f"{tenant}/v2.0/.well-known/openid-configuration"
        return _json({"tenant_discovery_endpoint": discovery, "api-version": "1.1", "metadata": []})
    if one.path.endswith("openid-configuration"):
        ends = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
        return _json({name: f"{tenant}/oauth2/v2.0/{end}" for name, end in ends.items()} | {"issuer": f"{tenant}/v2.0"})
    asked = _form(body)
    if (asked["client_id"], asked["client_assertion_type"], asked["grant_type"]) != (
        *("octo-client", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_credentials"),
    ):
        raise Refused(400, {"error": "invalid_request"})
    one.server.check_identity(asked["client_assertion"], "api://AzureADTokenExchange")
    return _json({"access_token": one.server.issued(), "token_type": "Bearer", "expires_in": int(one.server.lasts)})


def _openai_identity(one: _Handler, body: bytes) -> Answer:
    asked = json.loads(body)
    if (
        asked["grant_type"],
        asked["subject_token_type"],
        asked["identity_provider_id"],
        asked["service_account_id"],
    ) != (*("urn:ietf:params:oauth:grant-type:token-exchange", FORM, "idp_1", "user_1"),):
        raise Refused(400, {"error": "invalid_request"})
    one.server.check_identity(asked["subject_token"], "https://api.openai.com/v1")
    return _json({"access_token": one.server.issued(), "expires_in": one.server.lasts})


def _openai(one: _Handler, body: bytes) -> Answer:
    one.server.check_bearer(one.headers["authorization"])
    asked = json.loads(body)
    return _played(responses(one.server.model, asked), streamed=bool(asked.get("stream")))


def _anthropic(one: _Handler, body: bytes) -> Answer:
    asked = json.loads(body)
    if urlsplit(one.path).path == "/v1/oauth/token":
        if (asked["federation_rule_id"], asked["organization_id"]) != ("fdrl_1", "org-1"):
            raise Refused(400, {"error": "invalid_request"})
        one.server.check_identity(asked["assertion"], "https://api.anthropic.com")
        return _json({"access_token": one.server.issued(), "token_type": "Bearer", "expires_in": one.server.lasts})
    one.server.check_bearer(one.headers.get("authorization", ""))
    if one.headers["host"] == "api.anthropic.com" and "oauth-2025-04-20" not in one.headers.get("anthropic-beta", ""):
        raise Refused(401, {"error": {"message": "OAuth is not enabled"}})
    return _played(messages(one.server.model, asked), streamed=bool(asked.get("stream")))


def _answer_of(host: str) -> Callable[[_Handler, bytes], Answer]:
    known: dict[str, Callable[[_Handler, bytes], Answer]] = {
        GITHUB: _github,
        "sts.us-east-1.amazonaws.com": _aws_sts,
        "bedrock-runtime.us-east-1.amazonaws.com": _bedrock,
        "sts.googleapis.com": _google_sts,
        "iamcredentials.googleapis.com": _google_iam,
        "us-east5-aiplatform.googleapis.com": _vertex,
        "login.microsoftonline.com": _entra,
        "auth.openai.com": _openai_identity,
        "api.openai.com": _openai,
        "octo.openai.azure.com": _openai,
    }
    return known.get(host, _anthropic)


def _certificate(folder: Path) -> Path:
    """A certificate for all hosts, and its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "throwaway clouds")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "authority.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return file


@contextmanager
def clouds(folder: Path, steps: list[Step]) -> Iterator[tuple[Clouds, dict[str, str]]]:
    """The clouds, running, and the variables of a job that reaches them."""
    with Clouds(folder, steps) as server, _connecting(server.server_port) as proxy:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server, server.environment(proxy)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _connecting(port: int) -> Iterator[int]:
    """The port of a proxy that connects every host with one port of this machine."""

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve(near: socket.socket) -> None:
        with near, suppress(OSError):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += near.recv(1)
            host = head.split()[1].decode().rpartition(":")[0]
            with socket.create_connection(("127.0.0.1", port)) as far:
                if host not in HOSTS:
                    return
                near.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                back = Thread(target=pump, args=(far, near), daemon=True)
                back.start()
                pump(near, far)
                back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        thread = Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)
