"""The model proxy's https connection to a provider: certificates and proxies of Tidegate's environment."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.model_server import ModelServer, Step, serving
from tests.unit.agents.model_proxy.test_proxy import ask
from tidegate.agents.model_proxy.proxy import ModelProxy
from tidegate.agents.providers.access import KeyAccess
from tidegate.model.provider import ANTHROPIC


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody else trusts, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "throwaway")])
    now = datetime.datetime.now(datetime.UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = tmp_path / "authority.pem", tmp_path / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return files


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@contextmanager
def provider(files: tuple[Path, Path]) -> Iterator[ModelServer]:
    """The scripted model by https."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    with serving([Step("Well.")]) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        yield server


@contextmanager
def proxy() -> Iterator[tuple[int, list[bytes]]]:
    """A proxy for one connection: its port, and the heads of what it was asked."""
    heads: list[bytes] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with suppress(OSError):
            near, _ = listener.accept()
            with near:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += near.recv(1)
                heads.append(head)
                host, _, port = head.split()[1].decode().rpartition(":")
                with socket.create_connection((host, int(port))) as far:
                    near.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                    back = Thread(target=pump, args=(far, near))
                    back.start()
                    pump(near, far)
                    back.join()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1], heads
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def answer(port: int) -> tuple[int, bytes]:
    """What the model proxy answers to a request for the provider there."""
    with (
        ModelProxy() as model_proxy,
        model_proxy.lent(ANTHROPIC, KeyAccess("the-key"), f"https://127.0.0.1:{port}") as lease,
    ):
        return ask(lease)


def status_of_one_request(server: ModelServer) -> int:
    return answer(server.server_port)[0]


def test_only_known_certificates_are_trusted(authority: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(authority) as server:
        assert status_of_one_request(server) == 502
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(authority[0]))
        assert status_of_one_request(server) == 200
    assert server.requests[0][2]["x-api-key"] == "the-key"


def test_the_proxy_is_used_and_sees_no_key(authority: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority[0]))
    with provider(authority) as server, proxy() as (port, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{port}")
        assert status_of_one_request(server) == 200
    (head,) = heads
    assert head.startswith(b"CONNECT 127.0.0.1:%d " % server.server_port)
    assert b"Basic " + base64.b64encode(b"me:p@ss") in head
    assert b"the-key" not in head
    assert "proxy-authorization" not in server.requests[0][2]


def test_hosts_of_no_proxy_are_asked_directly(authority: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority[0]))
    monkeypatch.setenv("NO_PROXY", "example.com,127.0.0.1")
    with provider(authority) as server, proxy() as (port, heads):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        assert status_of_one_request(server) == 200
    assert heads == []


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:1080", "http://127.0.0.1:many", "https://127.0.0.1:1"])
def test_a_proxy_that_it_cannot_use_is_said(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    status, body = answer(1)
    assert (status, b"HTTPS_PROXY has to be" in body) == (502, True)
