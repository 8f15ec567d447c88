"""OpenID Connect bearer tokens: who signed them, for whom, and what they say of their bearer.

A token has to be signed (RS256, ES256 or EdDSA, whatever it says of itself) by a key of the issuer's set, for this
audience, and be of now, give or take a minute. Its claims give name, role, indexes and groups; a token that names no
role opens nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt

from auscult.errors import ConfigError
from auscult.files.json_text import parse_json
from auscult.service.access.keys import ROLES, KeyRole

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_LEEWAY: Final = 60
_LONGEST: Final = 16_384
_FETCHED_FOR: Final = 300
_PATIENCE: Final = 5
_LOG: Final = logging.getLogger("auscult.service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Names of the claims that say what a bearer may.

    Attributes:
        name: Who it is, as the audit log tells it.
        role: "read", "write" or "admin"; of several the widest.
        indexes: Names of indexes; a token without it opens all.
    """

    name: str = "sub"
    role: str = "auscult_role"
    groups: str = "groups"
    indexes: str = "auscult_indexes"


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a token says of its bearer, as for `Key`."""

    name: str
    role: KeyRole
    indexes: tuple[str, ...] | None
    groups: tuple[str, ...]


class Tokens:
    """Tokens of one issuer.

    Args:
        issuer: As its tokens name it.
        audience: That tokens have to be for.
        keys: Of the issuer: a file, or the address of its JSON Web Key Set.
        claims: What is read of a token.

    Raises:
        ConfigError: There is no audience, or the file holds no keys.
    """

    def __init__(self, issuer: str, audience: str, keys: str, claims: Claims = Claims()) -> None:
        if not (issuer and audience and keys):
            remedy = "set all three"
            raise ConfigError("an issuer, an audience and keys of OpenID Connect", "one of them missing", remedy)
        self._issuer, self._audience, self._claims = issuer, audience, claims
        self._set: jwt.PyJWKSet | None = None
        self._client: jwt.PyJWKClient | None = None
        if keys.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            self._client = jwt.PyJWKClient(keys, lifespan=_FETCHED_FOR, timeout=_PATIENCE)
        elif "://" in keys:
            raise ConfigError("keys of OpenID Connect from a file or over https", f"'{keys}'", "use https")
        else:
            try:
                self._set = jwt.PyJWKSet.from_dict(parse_json(Path(keys).read_text(encoding="utf-8")))
            except (OSError, ValueError, jwt.PyJWTError, AttributeError) as error:
                remedy = "save the issuer's keys there (its jwks_uri), or give their address"
                raise ConfigError(f"a JSON Web Key Set at {keys}", f"{type(error).__name__}", remedy) from error

    def find(self, shown: str) -> Bearer | None:
        """Return the bearer of a token; None where it is no good one. May ask the issuer for its keys."""
        if len(shown) > _LONGEST:
            return None
        try:
            told = jwt.decode(
                shown,
                self._key(shown),
                algorithms=list(ALGORITHMS),
                audience=self._audience,
                issuer=self._issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"], "verify_iat": True, "verify_nbf": True},
            )
        except jwt.PyJWKClientConnectionError as error:
            _LOG.error("the issuer's keys cannot be fetched: %s", type(error).__name__)
            return None
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            return None
        roles = [role for role in ROLES if role in _texts(told.get(self._claims.role))]
        name = told.get(self._claims.name)
        if not roles or not isinstance(name, str) or not name.strip():
            return None
        role: KeyRole = "admin" if "admin" in roles else "write" if "write" in roles else "read"
        named = told.get(self._claims.indexes)
        indexes = None if named is None else _texts(named)
        return Bearer(name, role, indexes, _texts(told.get(self._claims.groups)))

    def _key(self, shown: str) -> Any:
        if self._client is not None:
            return self._client.get_signing_key_from_jwt(shown).key
        named = jwt.get_unverified_header(shown).get("kid")
        found = [each for each in (self._set.keys if self._set else ()) if named is None or each.key_id == named]
        if len(found) != 1:
            raise jwt.InvalidTokenError("no such key")
        return found[0].key


def _texts(told: object) -> tuple[str, ...]:
    """Return the texts of a claim, which is one text or a list of them."""
    several = told if isinstance(told, list) else [told]
    return tuple(each for each in several if isinstance(each, str) and each)
