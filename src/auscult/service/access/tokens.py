"""Check OpenID Connect bearer tokens, and read the rights of their bearer.

A token must be signed by a key of the issuer (with RS256, ES256 or EdDSA, whatever its header says), be for this
audience, and be valid now, with a tolerance of a minute. Its claims give name, role, indexes and groups. A token
without a role is rejected.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt

from auscult.engines import shown_address
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
    """Names of the claims with the rights of a bearer.

    Attributes:
        name: Claim with the name for the audit log.
        role: Claim with "read", "write" or "admin"; of several roles the widest counts.
        groups: Claim with the groups whose documents are visible.
        indexes: Claim with the names of indexes; a token without it opens all.
    """

    name: str = "sub"
    role: str = "auscult_role"
    groups: str = "groups"
    indexes: str = "auscult_indexes"


@dataclass(frozen=True, slots=True)
class Bearer:
    """Name and rights of the bearer of a token; the fields are those of `Key`."""

    name: str
    role: KeyRole
    indexes: tuple[str, ...] | None
    groups: tuple[str, ...]


class Tokens:
    """Checks tokens of one issuer.

    Args:
        issuer: The issuer as its tokens name it.
        audience: The audience that tokens must be for.
        keys: The issuer's JSON Web Key Set: a file, or its URL.
        claims: Names of the claims to read.

    Raises:
        ConfigError: One of the first three is missing, or the file has no keys.
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
            raise ConfigError(
                "keys of OpenID Connect from a file or over https", f"'{shown_address(keys)}'", "use https"
            )
        else:
            try:
                self._set = jwt.PyJWKSet.from_dict(parse_json(Path(keys).read_text(encoding="utf-8")))
            except (OSError, ValueError, jwt.PyJWTError, AttributeError) as error:
                remedy = "save the issuer's keys there (its jwks_uri), or give their address"
                raise ConfigError(f"a JSON Web Key Set at {keys}", f"{type(error).__name__}", remedy) from error

    def find(self, token: str) -> Bearer | None:
        """Return the bearer of a token; None for an invalid one. May fetch the issuer's keys."""
        if len(token) > _LONGEST:
            return None
        try:
            claims = jwt.decode(
                token,
                self._key(token),
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
        roles = [role for role in ROLES if role in _texts(claims.get(self._claims.role))]
        name = claims.get(self._claims.name)
        if not roles or not isinstance(name, str) or not name.strip():
            return None
        role: KeyRole = "admin" if "admin" in roles else "write" if "write" in roles else "read"
        named = claims.get(self._claims.indexes)
        indexes = None if named is None else _texts(named)
        return Bearer(name, role, indexes, _texts(claims.get(self._claims.groups)))

    def _key(self, token: str) -> Any:
        if self._client is not None:
            return self._client.get_signing_key_from_jwt(token).key
        named = jwt.get_unverified_header(token).get("kid")
        keys = [each for each in (self._set.keys if self._set else ()) if named is None or each.key_id == named]
        if len(keys) != 1:
            raise jwt.InvalidTokenError("no such key")
        return keys[0].key


def _texts(claim: object) -> tuple[str, ...]:
    """Return the texts of a claim, which is a text or a list of texts."""
    several = claim if isinstance(claim, list) else [claim]
    return tuple(each for each in several if isinstance(each, str) and each)
