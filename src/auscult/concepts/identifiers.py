"""Normalise identifiers: `UMLS_CUI:C0017661`, `umls:c0017661` and `C0017661` all become `UMLS:C0017661`.

Canonical prefixes: DOID, MONDO, SYMP, HP, UMLS, MESH, ICD9, ICD10, ICD11, OMIM, OMIMPS, ORPHANET, GARD, NCIT;
any other prefix is kept in upper case. A Wikidata identifier has no prefix ("Q12152"). ICD-10, ICD-10-CM and
ICD-10-WHO share the prefix ICD10: people rarely say which edition they mean, and the categories agree.
"""

from __future__ import annotations

import re

_PREFIXES = {
    "UMLS_CUI": "UMLS", "UMLS CUI": "UMLS", "CUI": "UMLS", "UMLS": "UMLS", "MSH": "MESH", "MESH": "MESH",
    "MIM": "OMIM", "OMIM": "OMIM", "OMIMPS": "OMIMPS", "MIMPS": "OMIMPS", "ORDO": "ORPHANET",
    "ORPHA": "ORPHANET", "ORPHANET": "ORPHANET", "GARD": "GARD", "NCI": "NCIT", "NCIT": "NCIT",
    "ICD10": "ICD10", "ICD-10": "ICD10", "ICD 10": "ICD10", "ICD10CM": "ICD10", "ICD-10-CM": "ICD10",
    "ICD-10CM": "ICD10", "ICD10-CM": "ICD10", "ICD10WHO": "ICD10", "ICD-10-WHO": "ICD10", "ICD9": "ICD9",
    "ICD-9": "ICD9", "ICD9CM": "ICD9", "ICD-9-CM": "ICD9", "ICD9CM_2005": "ICD9", "ICD11": "ICD11",
    "ICD-11": "ICD11", "DOID": "DOID", "MONDO": "MONDO", "SYMP": "SYMP", "HP": "HP", "WIKIDATA": "",
    "WD": "",
}  # fmt: skip
_ALTERNATIVES = "|".join(sorted(map(re.escape, _PREFIXES), key=len, reverse=True))
# A known prefix may be followed by a blank or an underscore ("ICD-10 N02.8", "DOID_2986"); an unknown one
# needs a colon.
_KNOWN = re.compile(rf"^({_ALTERNATIVES})(?:\s*[:_/]\s*|\s+)(\S+)$", re.IGNORECASE)
_OTHER = re.compile(r"^([A-Za-z][\w.\-]*):(\S+)$")
_IRI = re.compile(r"^https?://\S*[/#]([^/#\s]+)$", re.IGNORECASE)
_WIKIDATA = re.compile(r"^Q[1-9]\d*$", re.IGNORECASE)
_CUI = re.compile(r"^C\d{7}$", re.IGNORECASE)
_ICD10 = re.compile(r"^[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?$", re.IGNORECASE)
_NUMERIC = frozenset({"DOID", "MONDO", "SYMP", "HP", "OMIM", "OMIMPS", "ORPHANET", "GARD"})


def normalise_identifier(text: str) -> str | None:
    """Return the canonical form of an identifier, or None if the text is not an identifier.

    Args:
        text: "UMLS_CUI:C0017661", "icd-10 n028", "doid:2986", "q12152", a Wikidata or OBO address, ...

    Returns:
        "UMLS:C0017661", "ICD10:N02.8", "DOID:2986", "Q12152"; None for plain words ("type 2 diabetes").
    """
    text = text.strip()
    address = _IRI.match(text)
    if address:
        text = address.group(1)
    if _WIKIDATA.match(text):
        return text.upper()
    if _CUI.match(text):
        return f"UMLS:{text.upper()}"
    known = _KNOWN.match(text)
    if known:
        return _canonical(_PREFIXES[known.group(1).upper()], known.group(2))
    other = _OTHER.match(text)
    return f"{other.group(1).upper()}:{other.group(2)}" if other else None


def normalise_identifiers(texts: list[str]) -> tuple[str, ...]:
    """Return the canonical forms in order, without repeats; texts that are not identifiers are left out."""
    return tuple(dict.fromkeys(filter(None, map(normalise_identifier, filter(None, texts)))))


def icd10_code(code: str) -> str:
    """Return an ICD-10 code with its dot: "n028" becomes "N02.8"."""
    bare = code.upper().replace(".", "")
    return f"{bare[:3]}.{bare[3:]}" if len(bare) > 3 else bare


def _canonical(prefix: str, local: str) -> str | None:
    if prefix == "":
        return local.upper() if _WIKIDATA.match(local) else None
    if prefix == "UMLS":
        return f"UMLS:{local.upper()}" if _CUI.match(local) else None
    if prefix == "ICD10":
        return f"ICD10:{icd10_code(local)}" if _ICD10.match(local) else f"ICD10:{local.upper()}"
    if prefix in _NUMERIC and not local.isdigit():
        return None
    if prefix in {"GARD", "ORPHANET"}:
        return f"{prefix}:{int(local)}"
    return f"{prefix}:{local.upper()}"
