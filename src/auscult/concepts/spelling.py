"""British and American spelling, and possessives, of medical words."""

from __future__ import annotations

import re

# British -> American; applied to both sides of every comparison.
_SPELLINGS = (
    ("aemi", "emi"), ("haem", "hem"), ("oedem", "edem"), ("oesoph", "esoph"), ("oestr", "estr"),
    ("rrhoe", "rrhe"), ("tumour", "tumor"), ("foet", "fet"), ("paed", "ped"), ("coelia", "celia"),
    ("hydrocoele", "hydrocele"), ("gynaec", "gynec"), ("anaesth", "anesth"), ("caec", "cec"),
    ("faec", "fec"), ("leucaem", "leukem"), ("leucem", "leukem"), ("behaviour", "behavior"),
    ("colour", "color"), ("fibre", "fiber"), ("paralyse", "paralyze"), ("pnoea", "pnea"),
    ("manoeuv", "maneuv"), ("taenia", "tenia"), ("sulph", "sulf"), ("ageing", "aging"),
    ("aetiolog", "etiolog"),
)  # fmt: skip
_SPELLING = re.compile("|".join(sorted((british for british, _ in _SPELLINGS), key=len, reverse=True)))
_AMERICAN = dict(_SPELLINGS)
_OWNER = re.compile(r"(?<=[a-zA-Z])['\u2019]s\b|(?<=s)['\u2019](?= )")
_TO_AMERICAN = tuple((re.compile(british, re.IGNORECASE), american) for british, american in _SPELLINGS)
# American -> British where the word says which letter was lost; each on its own, so that one rule cannot undo
# another.
_TO_BRITISH = tuple(
    (re.compile(american, re.IGNORECASE), british)
    for american, british in (
        (r"(?<!a)emi(?=a|c)", "aemi"),
        (r"(?<!c)hem(?=[aor])", "haem"),
        (r"\bedem", "oedem"),
        (r"\besoph", "oesoph"),
        (r"rrhe(?=a|i)", "rrhoe"),
        (r"tumor\b", "tumour"),
        (r"\bfet(?=al|us)", "foet"),
        (r"\bceliac", "coeliac"),
        (r"\bped(?=iatric)", "paed"),
        (r"pnea\b", "pnoea"),
        (r"anesth", "anaesth"),
        (r"\bestrogen", "oestrogen"),
        (r"gynec", "gynaec"),
        (r"behavior", "behaviour"),
        (r"\bcolor", "colour"),
    )
)
_RULES = (*_TO_AMERICAN, *_TO_BRITISH)
_VARIES = re.compile("|".join(rule.pattern for rule in (_OWNER, *(rule for rule, _ in _RULES))), re.IGNORECASE)
_ROMAN = {"1": "I", "2": "II", "3": "III", "4": "IV", "5": "V", "6": "VI", "7": "VII", "8": "VIII", "9": "IX"}
_ARABIC = {roman: arabic for arabic, roman in _ROMAN.items()}
_NUMBERED = re.compile(r"(?<=\btype )(?:[1-9]|I{1,3}|I?V|VI{1,3}|IX)(?![\w.])", re.IGNORECASE)


def american(text: str) -> str:
    """A lower-case text in American spelling; for comparison, so a rare word may come out wrong."""
    return _SPELLING.sub(lambda match: _AMERICAN[match.group()], text)


def spelling_variants(name: str) -> tuple[str, ...]:
    """The ways a name is spelt in running text: British or American, possessive or not, "type 2" or "II".

    Args:
        name: "Alzheimer's disease", "leukemia".

    Returns:
        The name first; letters that change come out in lower case: ("Alzheimer's disease", "Alzheimer disease",
        "Alzheimers disease"), ("leukemia", "leukaemia").
    """
    number = _NUMBERED.search(name)
    if not number and not _VARIES.search(name):
        return (name,)
    variants = [name]
    if number:
        other = _ROMAN.get(number.group()) or _ARABIC[number.group().upper()]
        variants.append(_NUMBERED.sub(other, name, count=1))
    if _OWNER.search(name):
        variants += [_OWNER.sub("", name), _OWNER.sub("s", name)]
    for pattern, replacement in _RULES:
        variants += [pattern.sub(replacement, variant) for variant in variants if pattern.search(variant)]
    return tuple(dict.fromkeys(variants))
