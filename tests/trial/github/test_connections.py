"""Connections to GitHub: Enterprise Server below a path, a private certificate, a proxy; and none to other hosts."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import Repository
from tests.gh.emulated.front import Front
from tests.gh.emulated.runner import Ran, pull_request_payload
from tests.gh.fake.server import BlobHost, FakeGitHub, PullRequest
from tests.gh.job import MakeStep
from tests.journeys.conftest import FILES

Comment = Callable[..., Ran]


@pytest.fixture
def comment(make_step: MakeStep, make_repository: Callable[..., Repository]) -> Comment:
    """A job whose pull request has nothing to compare, so that the comment is all there is to it."""
    repo = make_repository()
    repo.commit({**FILES, "tidegate.yaml": FILES["tidegate.yaml"] + "watch: [bin/**]\n"})
    repo.branch("pr", {"LICENSE": "MIT\n"})

    def run(pull: PullRequest, **environ: str) -> Ran:
        head = repo.git("rev-parse", "pr")
        pull.push(head)
        payload = pull_request_payload(pull.repository, 1, head, repo.git("rev-parse", "main"), head_ref="pr")
        step = make_step(repo.root, pull.github.api_url)
        return step.run({**step.environ("pull_request", payload, {"github_token": pull.github.token}), **environ})

    return run


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, by nobody whom the machine trusts; with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ghes.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path / "ghes.pem"
    file.write_bytes(secret + made.public_bytes(pem))
    return file


@pytest.fixture
def trap() -> Iterator[Front]:
    """A proxy that nothing should ever come to."""
    front = Front()
    front.forward = lambda *_: (_ for _ in ()).throw(AssertionError)
    yield front
    front.stop()


def test_an_enterprise_server_lies_below_a_path_and_nothing_is_asked_elsewhere(
    fake_front: Front, blob_host: BlobHost, comment: Comment, trap: Front
) -> None:
    fake_front.reset()
    pull = FakeGitHub(fake_front, blob_host, f"{fake_front.url}/api/v3").pull_request()

    ran = comment(pull, HTTP_PROXY=trap.url, HTTPS_PROXY=trap.url, NO_PROXY="127.0.0.1")

    assert (ran.exit_code, len(pull.bot_comments())) == (0, 1), ran.stdout
    assert (trap.seen, trap.violations) == ([], [])
    assert fake_front.violations == []


def test_a_proxy_is_used_where_the_runner_names_one(fake_front: Front, blob_host: BlobHost, comment: Comment) -> None:
    fake_front.reset()
    pull = FakeGitHub(fake_front, blob_host, "http://ghes.example:80/api/v3").pull_request()

    ran = comment(pull, HTTP_PROXY=fake_front.url)

    assert (ran.exit_code, len(pull.bot_comments())) == (0, 1), ran.stdout
    assert fake_front.violations == []


@pytest.mark.parametrize("trusted", [True, False])
def test_a_certificate_is_trusted_where_one_says_so(
    certificate: Path, blob_host: BlobHost, comment: Comment, trusted: bool
) -> None:
    front = Front(certificate)
    try:
        pull = FakeGitHub(front, blob_host).pull_request()
        bundle = {"REQUESTS_CA_BUNDLE": str(certificate)} if trusted else {}

        ran = comment(pull, **bundle)
    finally:
        front.stop()

    assert (ran.exit_code, ran.stderr, len(pull.bot_comments())) == (0, "", 1 if trusted else 0), ran.stdout
    assert ("certificate is not trusted" in ran.stdout) == (not trusted)
