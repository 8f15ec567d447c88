"""Check OpenID Connect bearer tokens, and read the rights of their bearer.

A token must be signed by a key of the issuer (with RS256, ES256 or EdDSA, whatever its header says), be for this
audience, and be valid now, with a tolerance of a minute. Its claims give name, role, indexes and groups. A token
without a role is rejected.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

import jwt

from auscult.engines import shown_address
from auscult.errors import ConfigError
from auscult.files.json_text import parse_json
from auscult_service.access.keys import ROLES, KeyRole
from auscult_service.caller import Caller

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_NAME: Final = "sub"
"""Claim with the name for the audit log."""
_INDEXES: Final = "auscult_indexes"
"""Claim with the names of indexes; a token without it opens all."""
_LEEWAY: Final = 60
_LONGEST: Final = 16_384
_FETCHED_FOR: Final = 300
_PATIENCE: Final = 5
_LOG: Final = logging.getLogger("auscult.service")


class Tokens:
    """Checks tokens of one issuer.

    Args:
        issuer: The issuer as its tokens name it.
        audience: The audience that tokens must be for.
        keys: The issuer's JSON Web Key Set: a file, or its URL.
        role_claim: Claim with "read", "write" or "admin"; of several roles the widest counts.
        groups_claim: Claim with the groups whose documents are visible.

    Raises:
        ConfigError: One of the first three is missing, or the file has no keys.
    """

    def __init__(self, issuer: str, audience: str, keys: str, *, role_claim: str, groups_claim: str) -> None:
        if not (issuer and audience and keys):
            remedy = "set all three"
            raise ConfigError("an issuer, an audience and keys of OpenID Connect", "one of them missing", remedy)
        self._issuer, self._audience = issuer, audience
        self._role_claim, self._groups_claim = role_claim, groups_claim
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

    def find(self, token: str) -> Caller | None:
        """Return the bearer of a token; None for an invalid one. May fetch the issuer's keys."""
        if len(token) > _LONGEST:
            return None
        try:
            claims = jwt.decode(
                token,
                self._find_key(token),
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
        roles = [role for role in ROLES if role in _list_texts(claims.get(self._role_claim))]
        name = claims.get(_NAME)
        if not roles or not isinstance(name, str) or not name.strip():
            return None
        role: KeyRole = "admin" if "admin" in roles else "write" if "write" in roles else "read"
        named = claims.get(_INDEXES)
        indexes = None if named is None else frozenset(_list_texts(named))
        return Caller(name, role, indexes, frozenset(_list_texts(claims.get(self._groups_claim))))

    def _find_key(self, token: str) -> Any:
        if self._client is not None:
            return self._client.get_signing_key_from_jwt(token).key
        named = jwt.get_unverified_header(token).get("kid")
        keys = [each for each in (self._set.keys if self._set else ()) if named is None or each.key_id == named]
        if len(keys) != 1:
            raise jwt.InvalidTokenError("no such key")
        return keys[0].key


def _list_texts(claim: object) -> tuple[str, ...]:
    """Return the texts of a claim, which is a text or a list of texts."""
    several = claim if isinstance(claim, list) else [claim]
    return tuple(each for each in several if isinstance(each, str) and each)
