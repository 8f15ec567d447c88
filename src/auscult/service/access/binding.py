"""Where a service may listen: beyond this machine only for those whom it knows."""

from __future__ import annotations

from pathlib import Path

from auscult.errors import ConfigError
from auscult.service.settings import Settings


def check_binding(settings: Settings) -> None:
    """Refuse settings that would serve strangers, or speak TLS without what it takes.

    Raises:
        ConfigError: It would listen beyond this machine without knowing who asks; or certificate or key are missing.
    """
    access = settings.access
    known = settings.keys is not None or bool(access.issuer)
    if not (settings.is_local or known or access.insecure):
        raise ConfigError(
            "keys, to listen beyond this machine",
            f"host '{settings.host}' without any",
            "make one: auscult keys add KEYS NAME, and serve with --keys KEYS; or listen at 127.0.0.1",
        )
    if (access.certificate is None) != (access.certificate_key is None):
        raise ConfigError("a TLS certificate and its key", "one of them alone", "give both, or neither")
    for what, path in (("certificate", access.certificate), ("certificate's key", access.certificate_key)):
        if path is not None:
            _check_readable(what, path)


def _check_readable(what: str, path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"a TLS {what} at {path}", str(error.strerror), "correct the path") from error
    if b"-----BEGIN " not in content:
        raise ConfigError(f"a TLS {what} at {path}", "no PEM file", "convert it to PEM")
