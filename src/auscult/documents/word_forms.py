"""Give the spellings of a word one normal form in names, questions and texts: "haemophilia" finds "hemophilia".

These spellings become equal:

    spelling      American: "anaemia" anemia, "tumour" tumor, "randomised" randomized, "centre" center
    plurals       those that no stemmer knows: "vertebrae" vertebra, "bacteria" bacterium, "teeth" tooth
    hyphens       two words: "x-ray" and "xray" are x, ray; `compounds.txt` lists the words that are written both ways
    Greek letters by name: "\u03b2-blocker" beta, blocker; "\u03b11", "alpha1" and "alpha-1" alpha, 1
    possessives   removed: "Crohn's" crohn

A rule for every "ae" and "oe" would change "aerobic" and "shoes", so the digraphs are only changed in listed roots.
`benchmarks/word_forms.py` measures the rules on the word lists of SCOWL (wordlist.aspell.net): how many purely British
words become American ones, and how many words of both varieties are changed.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources
from typing import Final

# British -> American, anywhere in a word, longest first.
_ROOTS: Final = {
    "aemi": "emi", "haem": "hem", "oedem": "edem", "angiooedem": "angioedem", "angioedem": "angioedem",
    "oesoph": "esoph", "rrhoe": "rrhe", "foet": "fet", "paed": "ped", "coelia": "celia", "coele": "cele",
    "coelom": "celom", "gynaec": "gynec", "aesth": "esth", "caec": "cec", "faec": "fec", "pnoe": "pne",
    "taenia": "tenia", "sulph": "sulf", "ageing": "aging", "aetiolog": "etiolog", "phaeo": "pheo", "naev": "nev",
    "praevi": "previ", "caesar": "cesar", "caesium": "cesium", "archaeo": "archeo", "palaeo": "paleo",
    "mediaev": "mediev", "amoeb": "ameb", "homoeo": "homeo", "laevo": "levo", "spirochaet": "spirochet",
    "fraen": "fren", "glutae": "glute", "cesarian": "cesarean", "caesarian": "cesarean", "leucaem": "leukem",
    "leucem": "leukem", "leucocyt": "leukocyt", "leucopen": "leukopen", "leucopl": "leukopl", "leucoderm": "leukoderm",
    "leucodystr": "leukodystr", "leucotri": "leukotri", "leucoenceph": "leukoenceph", "manoeuvre": "maneuver",
    "manoeuvr": "maneuver", "artefact": "artifact", "aneurism": "aneurysm", "dietician": "dietitian",
    "hiccough": "hiccup", "smoulder": "smolder", "tranquill": "tranquil", "aluminium": "aluminum",
    "moustache": "mustache", "yoghurt": "yogurt", "pyjama": "pajama", "practis": "practic", "skilful": "skillful",
    "instalment": "installment", "judgement": "judgment",
}  # fmt: skip
_ROOT: Final = re.compile("|".join(sorted(_ROOTS, key=len, reverse=True)))
# Letters of a word, their British part, and the American form of that part.
_ENDINGS: Final = tuple(
    (letters, re.compile(pattern), american)
    for letters, pattern, american in (
        ("oestr", "(?<!sh)oestr", "estr"),
        ("our", r"(behavi|col|tum|od|vap|hum|rum|fav|flav|lab|neighb|harb|hon|savi|sav|vig|rig|arm|endeav|demean)our",
         r"\1or"),
        ("red", r"(cent|fib)red$", r"\1ered"),
        ("re", r"(cent|lit|met|fib|goit|tit|calib|theat|meag|spect|sab)re(?=s?$|glass|scop|optic)", r"\1er"),
        ("ogue", r"(anal|catal|dial|homol)ogue(?=s?$)", r"\1og"),
        ("ence", r"^(def|off|lic|pret)ence", r"\1ense"),
        ("ll", r"^((?:re|mis)?(?:label|counsel|travel|signal|model|cancel|channel|fuel|total|level|panel|initial|dial"
         r"|spiral|funnel|tunnel|equal|shrivel|unravel))l(?=ed$|ing|er|or)", r"\1"),
        ("enrol", r"^enrol(?=s?$|ment)", "enroll"),
        ("fulfil", r"^fulfil(?=s?$|ment)", "fulfill"),
        ("programme", r"^programme(?=s?$)", "program"),
        ("neurone", r"^neurone(?=s?$)", "neuron"),
        ("grey", r"^grey(?=s?$|ish$|ing$|ed$)", "gray"),
        ("mould", r"mould(?=s?$|y$|ed$|ing$)", "mold"),
        ("disk", r"^disk(?=s?$)", "disc"),
        # Not "exercise", "supervise", "surprise", "promise", which are spelt so in both.
        ("is", r"^(?!.*(?:promis|premis|treatis|chemis))([a-z]{2,}(?:[aeiouy]l|ll|[aeiou]n|gn|[aeou]r|metr|[aeiou]t|pt"
         r"|[aeiouy]m|id|rd|[aeio]g|rg|th|ic|[ae]s)|ion)is(?=e[srd]?$|ers$|ing$|ations?$|able$)", r"\1iz"),
        ("lys", r"^([a-z]{2,}ly)s(?=ed?$|ers?$|ing$)", r"\1z"),
    )
)  # fmt: skip
# Results of the tables above.
_PUT_IN: Final = tuple(
    re.compile(f"(?=({american}))")
    for american in (
        *{*_ROOTS.values()},
        "estr|[eo]r|ens|iz|yz",
        "l[eio]|enroll|fulfill",
        "gray|mold|disc|maneu|mustach",
    )
)
_PLURALS: Final = {
    "children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse",
    "lice": "louse", "bacteria": "bacterium", "criteria": "criterion", "fungi": "fungus", "bronchi": "bronchus",
    "thrombi": "thrombus", "emboli": "embolus", "nuclei": "nucleus", "stimuli": "stimulus", "calculi": "calculus",
    "bacilli": "bacillus", "nevi": "nevus", "diverticula": "diverticulum", "ganglia": "ganglion", "testes": "testis",
    "ug": "mcg", "alveoli": "alveolus", "appendices": "appendix", "cortices": "cortex", "phenomena": "phenomenon",
}  # fmt: skip
_LATIN: Final = 4
_JOINT: Final = re.compile("['-]")

_GREEK: Final = {
    "\u03b1": "alpha", "\u03b2": "beta", "\u03b3": "gamma", "\u03b4": "delta", "\u03b5": "epsilon", "\u03b6": "zeta",
    "\u03b7": "eta", "\u03b8": "theta", "\u03b9": "iota", "\u03ba": "kappa", "\u03bb": "lambda", "\u03bc": "mu",
    "\u03bd": "nu", "\u03be": "xi", "\u03c0": "pi", "\u03c1": "rho", "\u03c3": "sigma", "\u03c2": "sigma",
    "\u03c4": "tau", "\u03c5": "upsilon", "\u03c6": "phi", "\u03c7": "chi", "\u03c8": "psi", "\u03c9": "omega",
}  # fmt: skip
_MICRO: Final = re.compile("\u03bc(?=(?:g|l|m|s|v|w|iu|mol|ci|kat)\\b)")
# One or two Greek letters are symbols; more are a word.
_LETTERS: Final = re.compile("(?<![\u03b1-\u03c9])[\u03b1-\u03c9]{1,2}(?![\u03b1-\u03c9])")
_NUMBERED: Final = re.compile(r"^(alpha|beta|gamma|delta|epsilon|kappa|lambda|omega)(\d+)$")
_SHORT_CODE: Final = re.compile(r"^[a-z]{1,2}-\d{1,3}$")
_MARKS: Final = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2019": "'", "\u02bc": "'"})

TOKEN: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
"""A word of a text returned by `spelt_out`, with the parts that hyphens and apostrophes join to it."""
ROMAN: Final = {
    "ii": "2", "iii": "3", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12", "xiii": "13",
    "xiv": "14", "xv": "15", "xvi": "16", "xvii": "17", "xviii": "18", "xix": "19", "xx": "20",
}  # fmt: skip
"""Roman numerals that are not English words."""
_WORDS: Final = _PLURALS | ROMAN
ROMAN_LETTERS: Final = {"i": "1", "iv": "4", "v": "5", "x": "10"}
"""Roman numerals that are read as such only after a word of `SERIES`."""
SERIES: Final = (
    "type", "stage", "grade", "class", "group", "phase", "level", "factor", "subtype", "part", "category"
)  # fmt: skip

_IN_SERIES: Final = re.compile(rf"\b({'|'.join(SERIES)}) (i|iv|v|x)\b", re.IGNORECASE)
_HYPHENED: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def spelt_out(folded: str) -> str:
    """Return a folded text (`analysis.fold`) with names for Greek letters, and ASCII hyphens and apostrophes."""
    if folded.isascii():
        return folded
    plain = _MICRO.sub("u", folded.translate(_MARKS))
    return _LETTERS.sub(lambda match: "".join(f" {_GREEK.get(letter, letter)} " for letter in match.group()), plain)


@lru_cache(maxsize=1 << 15)
def normal_words(token: str) -> tuple[str, ...]:
    """Return the normal form of a token.

    Args:
        token: A match of `TOKEN` in a folded and spelt-out text: "haemophilia", "x-ray", "crohn's".

    Returns:
        Its words: ("hemophilia",), ("x", "ray"), ("crohn",).
    """
    two_ways = compounds()
    if token.isalpha():
        word = american(token)
        return tuple(map(_normalise, two_ways[word].split())) if word in two_ways else (_normalise(word),)
    token = token.removesuffix("'s")
    closed = american(token.replace("-", ""))
    if _SHORT_CODE.match(token) or closed in two_ways:
        return tuple(map(_normalise, two_ways.get(closed, closed).split()))
    words: list[str] = []
    for part in map(american, _JOINT.split(token)):
        numbered = _NUMBERED.match(part)
        words += numbered.groups() if numbered else map(_normalise, two_ways.get(part, part).split())
    return tuple(words)


def _normalise(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word]
    if len(word) > _LATIN and word.endswith(("ae", "cocci")):
        return word[:-1] if word.endswith("ae") else f"{word[:-1]}us"
    return word


def in_one_spelling(text: str) -> str:
    """Return a text in the form for models: American spelling, names for Greek letters, and Arabic numerals.

    Other words stay as they are; offsets change.
    """
    if not text.isascii():
        plain = _MICRO.sub("u", text.replace("\u00b5", "\u03bc").translate(_MARKS))
        text = _LETTERS.sub(lambda match: " ".join(_GREEK.get(letter, letter) for letter in match.group()), plain)
    text = _IN_SERIES.sub(lambda match: f"{match[1]} {ROMAN_LETTERS[match[2].lower()]}", text)
    return _HYPHENED.sub(lambda match: _respell(match.group()), text)


@lru_cache(maxsize=1 << 15)
def _respell(token: str) -> str:
    folded = token.lower()
    spelt = compounds().get(american(folded.replace("-", "")))
    if spelt is None:
        spelt = "-".join(ROMAN.get(part, part) for part in map(american, folded.split("-")))
    return token if spelt == folded else spelt


@lru_cache(maxsize=1 << 15)
def american(word: str) -> str:
    """Return a folded word in American spelling; most words stay the same."""
    word = _ROOT.sub(lambda match: _ROOTS[match.group()], word)
    for letters, pattern, ending in _ENDINGS:
        if letters in word:
            word = pattern.sub(ending, word)
    return word


@lru_cache(maxsize=1 << 12)
def written_part(term: str) -> str:
    """Return the longest part of a word or stem that all its spellings contain; empty if that is uncertain.

    Args:
        term: A term in normal form, whose last two letters may have been changed by a stemmer.
    """
    if not term.isalpha() or term in _written_otherwise():
        return ""
    letters = [*term[:-2]]
    for pattern in _PUT_IN:
        for match in pattern.finditer(term):
            letters[match.start() : match.end(1)] = " " * len(letters[match.start() : match.end(1)])
    return max("".join(letters).split(), key=len, default="")


@cache
def _written_otherwise() -> frozenset[str]:
    """Return normal forms that lack letters of other spellings, and their beginnings, as a stemmer may leave them."""
    words = (*_WORDS.values(), *(form for form in compounds().values() if " " not in form))
    stems = (re.sub("y$", "i", word) for word in words)
    return frozenset(form[:length] for form in (*words, *stems) for length in range(1, len(form) + 1))


@cache
def compounds() -> dict[str, str]:
    """Return compounds by their form as one word, with the form to use: two words, or unchanged."""
    lines = resources.files("auscult.documents").joinpath("compounds.txt").read_text("utf-8").splitlines()
    forms = (line.replace("-", "") + ending for line in lines for ending in ("", "s"))
    return {form.replace(" ", ""): form for form in forms}
