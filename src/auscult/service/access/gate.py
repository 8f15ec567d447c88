"""Who asks: from what a request shows, a key or a token, to a caller."""

from __future__ import annotations

from typing import Final

import anyio.to_thread

from auscult.service.access.binding import check_binding
from auscult.service.access.key_file import KeyFile
from auscult.service.access.keys import PREFIX
from auscult.service.access.tokens import Claims, Tokens
from auscult.service.caller import ANYONE, NOBODY, Caller
from auscult.service.guard.buckets import Buckets
from auscult.service.settings import Settings

_SCHEME: Final = "bearer "
_FAILURES_PER_MINUTE: Final = 60


class Gate:
    """Knows everybody who may ask.

    Args:
        settings: Of the service.

    Attributes:
        failures: How often an address may show what is no good.

    Raises:
        ConfigError: Strangers would be served, or keys cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        check_binding(settings)
        access = settings.access
        self.failures = Buckets(_FAILURES_PER_MINUTE)
        self._keys = KeyFile(settings.keys) if settings.keys is not None else None
        self._tokens: Tokens | None = None
        if access.issuer:
            claims = Claims(role=access.role_claim, groups=access.groups_claim)
            self._tokens = Tokens(access.issuer, access.audience, access.issuer_keys, claims)

    @property
    def is_open(self) -> bool:
        """Whether everybody may ask: a service for this machine alone, without keys."""
        return self._keys is None and self._tokens is None

    async def caller(self, shown: str) -> Caller:
        """Who has shown something; empty for nothing."""
        if self.is_open:
            return ANYONE
        if not shown:
            return NOBODY
        if self._keys is not None and shown.startswith(PREFIX):
            key = self._keys.find(shown)
            return NOBODY if key is None else Caller(key.name, key.role, _set(key.indexes), _set(key.groups))
        if self._tokens is not None:
            # The issuer may be asked for its keys.
            bearer = await anyio.to_thread.run_sync(self._tokens.find, shown)
            if bearer is not None:
                return Caller(bearer.name, bearer.role, _set(bearer.indexes), frozenset(bearer.groups))
        return NOBODY


def shown_in(authorization: str) -> str:
    """The key or token in a header 'Authorization: Bearer ...'; empty where there is none."""
    return authorization[len(_SCHEME) :].strip() if authorization[: len(_SCHEME)].lower() == _SCHEME else ""


def _set(names: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
