"""Tell the patients of records apart: is a text about the person whom a question names, or about another one?

A record names its patient in its metadata ("names", "patient"), in labelled lines or cells ("Patient: Mary Smith",
"Surname: Smith | First name: Mary", "DOB", "MRN"), or by a title ("Mrs Mary Smith"). It is about another person than a
question where

    a number that the question calls a record's, or its birth date, is not the record's, or
    the question has a part of a name, with a part beside it that the name lacks: "Mary Smith" for "John Smith", or
    the question says more of another found patient's name than of this one's.

A name of which the question has a part and lacks nothing else ("Smith", "J. Smith") is not told apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from auscult.documents.analysis import fold
from auscult.readers.tables import BETWEEN
from auscult.understanding.saying import PEOPLE, SAYING_NOTHING

# fmt: off
_TITLES: Final = frozenset({
    "mr", "mrs", "ms", "miss", "mstr", "master", "dr", "prof", "professor", "sir", "dame", "sr", "jr", "patient", "pt",
    "herr", "frau", "mme", "mlle",
})
_NO_NAMES: Final = frozenset({
    "male", "female", "man", "woman", "boy", "girl", "aged", "age", "born", "dob", "mrn", "nhs", "gender", "sex",
})
# fmt: on
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’\-‐‑][^\W\d_]+)*")
_OF_OWNER: Final = re.compile(r"['’]s?$")
_SURNAME = r"(?:sur|last |family )name|nachname|familienname|nom de famille|apellidos?|cognome"
_FORENAME = r"(?:first|given|fore)[ -]?names?|forename\(s\)|vornamen?|pr[ée]noms?|nombres?"
_WHOLE = (
    r"(?:full |patient(?:['’]s|s)? |patient[ _-]?|resident(?:['’]s)? |client(?:['’]s)? )?name(?: of (?:the )?patient)?"
    r"|patient(?:in)?|pt|resident|client|re|nom|paciente|paziente"
)
_BORN = r"(?:patient )?(?:date of birth|birth ?date|d\.? ?o\.? ?b\.?|born(?: on)?|geboren(?: am)?|geb\.?|geburtsdatum)"
_NUMBER = (
    r"mrn|m\.r\.n\.|(?:medical |patient |hospital |health |case |record |chart |unit |nhs |chi )+"
    r"(?:record )?(?:numbers?|no\.?|id|nr\.?|#)|patient|nhs|hospital|fallnummer|patient-?(?:id|nr\.?)|id"
)
_LABELLED: Final = re.compile(
    rf"(?:^|[\n|;,(\t.]|[^\S\n]{{2}}(?=\S))[^\S\n]{{0,9}}+(?:(?P<surname>{_SURNAME})|(?P<forename>{_FORENAME})|(?P<whole>{_WHOLE})"
    rf"|(?P<born>{_BORN})|(?P<number>{_NUMBER}))(?:[^\S\n]{{0,9}}[:=#][^\S\n]{{0,9}}|[^\S\n]{{1,9}}(?=[A-Z]{{0,4}}\d\d))"
    r"(?P<value>[^\n|;\t\0]{1,80})",
    re.IGNORECASE,
)
_CAPITAL = r"[^\W\d_a-zà-ÿ][^\W\d_]*(?:['’\-‐‑.][^\W\d_]*)*"
_TITLED: Final = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Miss|Mstr|Master|Herrn?|Frau|Mme)\.?[^\S\n]+({_CAPITAL}(?:[^\S\n]+{_CAPITAL}){{0,3}})"
)
_DESCRIBED: Final = re.compile(
    rf"(?:^|\n|[.:]\s)[^\S\n]*({_CAPITAL},?(?:[^\S\n]+{_CAPITAL}){{1,3}}),?[^\S\n]*\(?[^\S\n]*(?:is an? )?"
    r"(?=(?i:dob|d\.o\.b|born|aged?\b|mrn|nhs|\d{1,3}[ -]?(?:years?|yo|y/o|yrs?)))"
)
_BIRTH: Final = re.compile(rf"\b(?:{_BORN})", re.IGNORECASE)
_ID: Final = re.compile(r"\b[A-Za-z]{0,4}[-/]?\d[\w-]{2,}(?!\w)")
_CALLED_NUMBER: Final = re.compile(
    rf"\b(?:{_NUMBER}|numbers?|no\.?|record|chart)[^\S\n]*(?:is[^\S\n]+)?[:=#]?[^\S\n]*$", re.IGNORECASE
)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("jan", "january", "januar"),
            ("feb", "february", "februar"),
            ("mar", "march", "marz", "mrz"),
            ("apr", "april"),
            ("may", "mai"),
            ("jun", "june", "juni"),
            ("jul", "july", "juli"),
            ("aug", "august"),
            ("sep", "sept", "september"),
            ("oct", "october", "okt", "oktober"),
            ("nov", "november"),
            ("dec", "december", "dez", "dezember"),
        ),
        start=1,
    )
    for name in names
}
_DATE: Final = re.compile(
    r"\b(?:(?P<y>\d{4})[-./](?P<m>\d{1,2})[-./](?P<d>\d{1,2})|(?P<a>\d{1,2})[-./](?P<b>\d{1,2})[-./](?P<c>\d{4}|\d{2})"
    r"|(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?:of\s+)?(?P<month>[^\W\d_]{3,9})\.?,?[\s-]+(?P<year>\d{4})"
    r"|(?P<month2>[^\W\d_]{3,9})\.?\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year2>\d{4}))(?!\d)"
)
_ROW: Final = re.compile(rf"^.*{re.escape(BETWEEN)}.*$", re.MULTILINE)
_OTHER_PEOPLE: Final = re.compile(
    r"\b(?:next of kin|kin|carer|caregiver|contact|gp|consultant|doctor|physician|surgeon|nurse|relation|spouse|wife|"
    r"husband|mother|father|sister|brother|daughter|son|guardian|referrer|referred by|author|signed)\b",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(rf"{_CAPITAL},?(?:\s+{_CAPITAL}){{1,3}}")
_AROUND, _OPENING, _MOST_WORDS = 60, 2_000, 5

Name = tuple[str, ...]
Date = tuple[int, int, int]
"""Year, and day and month in the order of their sizes, since countries differ in which comes first."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Names, birth dates and record numbers of a patient in a text.

    Attributes:
        names: Names, each as its folded words.
        born: Dates of birth.
        numbers: Numbers of records, folded.
    """

    names: frozenset[Name] = frozenset()
    born: frozenset[Date] = frozenset()
    numbers: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.names or self.born or self.numbers)

    def __or__(self, other: Identity) -> Identity:
        return Identity(self.names | other.names, self.born | other.born, self.numbers | other.numbers)


NOBODY: Final = Identity()


def identity_in(text: str) -> Identity:
    """Return what the labelled cells or lines of a text about one person say of them."""
    return _read_labels(_LABELLED.finditer(text))


def persons_in(text: str) -> list[tuple[int, Identity]]:
    """Return who a text is about, from which offset on; a new person begins where a label comes again.

    Rows of tables are left out: each is about its own person. Names of relatives and staff are left out, too.

    Args:
        text: Text of a document, or of its beginning.
    """
    matches = [
        match
        for match in _LABELLED.finditer(_ROW.sub(lambda row: "\0" * len(row[0]), text) if BETWEEN in text else text)
        if not _OTHER_PEOPLE.search(text[max(0, match.start() - _AROUND) : match.start("value")])
    ]
    begun: list[list[re.Match[str]]] = []
    for match in matches:
        kind = _kind(match)
        same = [each for each in begun[-1] if _kind(each) == kind] if begun else []
        # Headers repeat their labels on each page.
        if not begun or (same and all(fold(each["value"]) != fold(match["value"]) for each in same)):
            begun.append([])
        begun[-1].append(match)
    persons = [(matches[0].start(), _read_labels(matches)) for matches in begun]
    if not any(person.names for _, person in persons):
        in_prose = frozenset(
            name
            for pattern in (_TITLED, _DESCRIBED)
            for match in pattern.finditer(text[:_OPENING])
            if (name := _read_name(match[1]))
        )
        persons = [(start, replace(person, names=in_prose)) for start, person in persons] or [(0, Identity(in_prose))]
    return persons


def identity_of(metadata: Mapping[str, str]) -> Identity:
    """Return what the metadata of a document says of its patient, and of who wrote it."""
    names = {name for line in metadata.get("names", "").splitlines() if (name := _read_name(line))}
    # A reference such as "Patient/p7" is for programs: nobody asks for it.
    number = "" if "/" in metadata.get("patient", "") else metadata.get("patient", "").strip().casefold()
    labelled = identity_in(
        "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in metadata.items() if "/" not in value)
    )
    return Identity(frozenset(names), frozenset(), frozenset({number} if number else ())) | labelled


def says_who(line: str) -> bool:
    """Return whether a line begins with a label of a patient's name, birth date or number."""
    return _LABELLED.match(line) is not None


def words_of_names(question: str) -> frozenset[str]:
    """Return the folded words of a question that may be parts of a name."""
    words = (fold(_OF_OWNER.sub("", match[0])) for match in _WORD.finditer(question))
    return frozenset(word for word in words if len(word) > 1 and not _says_no_name(word))


def has_number_or_date(question: str) -> bool:
    """Return whether a question has what may be the number of a record, or a date."""
    return _ID.search(question) is not None or bool(dates_in(question))


def may_name_one_of(words: Collection[str], text: str) -> bool:
    """Return whether a text may call its patient one of some folded words.

    Only the lines that have such a word are read, which most texts have few of.
    """
    folded = fold(text)
    present = [word for word in words if word in folded]
    if not present:
        return False
    lines = [line for line in text.splitlines() if any(word in fold(line) for word in present)]
    identities = [identity_in(line) for line in lines if BETWEEN in line]
    identities += [identity for _, identity in persons_in("\n".join(lines))]
    return any(not name_words.isdisjoint(present) for each in identities for name_words in map(frozenset, each.names))


def folded_words(text: str) -> frozenset[str]:
    """Return the folded words of a text, as names are compared."""
    return frozenset(fold(word[0]) for word in _WORD.finditer(text))


def name_in_heading(heading: str) -> Name:
    """Return the name that a heading is; empty where it is not two to four words with capitals."""
    return _read_name(heading) if _HEADING.fullmatch(heading.strip()) else ()


def _read_labels(matches: Iterable[re.Match[str]]) -> Identity:
    names: set[Name] = set()
    born: set[Date] = set()
    numbers: set[str] = set()
    surname: Name = ()
    forename: Name = ()
    for match in matches:
        value = match["value"]
        if match["born"]:
            born.update(dates_in(value)[:1])
        elif match["number"] or (match["whole"] and not _read_name(value)):
            numbers.update(found[0].casefold() for found in [*_ID.finditer(value)][:1])
        elif match["surname"]:
            surname = _read_name(value)
        elif match["forename"]:
            forename = _read_name(value)
        elif name := _read_name(value):
            names.add(name)
    if surname or forename:
        names.add((*forename, *surname))
    return Identity(frozenset(names), frozenset(born), frozenset(numbers))


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("surname", "forename", "whole", "born", "number") if match[kind])


def dates_in(text: str) -> list[Date]:
    """Return the dates in a text, in order."""
    dates: list[Date] = []
    for match in _DATE.finditer(text):
        parts = match.groupdict()
        month = next((_MONTHS.get(fold(parts[key])) for key in ("month", "month2") if parts[key]), None)
        day = parts["d"] or parts["a"] or parts["day"] or parts["day2"]
        year = int(parts["y"] or parts["c"] or parts["year"] or parts["year2"])
        number = month or int(parts["m"] or parts["b"] or 0)
        if not number:
            continue
        low, high = sorted((int(day), number))
        dates.append((year + (0 if year > 99 else 1900 if year > 29 else 2000), low, high))
    return dates


def _read_name(text: str) -> Name:
    """Return the words of a name at the beginning of a text; empty where there is none."""
    words: list[str] = []
    end = 0
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        folded = fold(word[0])
        if any(not (mark.isspace() or mark in ",.") for mark in between) or folded in _NO_NAMES:
            break
        # A comma is inside of a name once: "Smith, John".
        if "," in between and words and (len(words) > 2 or not word[0][0].isupper()):
            break
        if folded not in _TITLES:
            words.append(folded)
        end = word.end()
        if len(words) == _MOST_WORDS:
            break
    return tuple(words)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A word of a question: folded, and whether it is written with a capital."""

    word: str
    capital: bool


@dataclass(frozen=True)
class AskedPerson:
    """The person whom a question may name.

    Attributes:
        text: The question.
        others: Identities of patients among which the question may tell.
    """

    text: str
    others: Collection[Identity] = ()
    _words: tuple[_Asked, ...] = field(init=False, repr=False)
    _folded: frozenset[str] = field(init=False, repr=False)
    _born: frozenset[Date] = field(init=False, repr=False)
    _numbers: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        words = []
        for match in _WORD.finditer(self.text):
            word = _OF_OWNER.sub("", match[0])
            words.append(_Asked(fold(word), word[0].isupper()))
        object.__setattr__(self, "_words", tuple(words))
        object.__setattr__(self, "_folded", frozenset(word.word for word in words))
        every = frozenset(date for other in self.others for date in other.born)
        called = bool(_BIRTH.search(self.text))
        born = frozenset(date for date in dates_in(self.text) if called or date in every)
        object.__setattr__(self, "_born", born)
        known = frozenset(number for other in self.others for number in other.numbers)
        dates = [match.span() for match in _DATE.finditer(self.text)]
        numbers = frozenset(
            match[0].casefold()
            for match in _ID.finditer(self.text)
            if not any(first <= match.start() < last for first, last in dates)
            and (match[0].casefold() in known or _CALLED_NUMBER.search(self.text[: match.start()]))
        )
        object.__setattr__(self, "_numbers", numbers)

    def is_another(self, identity: Identity, text_words: Collection[str] = ()) -> bool:
        """Return whether a text with this identity is about another person than the question.

        Args:
            identity: What the text says of its patient.
            text_words: Folded words of the text beside its names, which are no names where the question has them.
        """
        if not identity:
            return False
        if self._numbers and identity.numbers:
            return self._numbers.isdisjoint(identity.numbers)
        if self._born and identity.born and self._born.isdisjoint(identity.born):
            return True
        shared = [name for name in identity.names if not self._folded.isdisjoint(name)]
        if shared:
            return all(self._conflicts(name, text_words) for name in shared)
        if not identity.names:
            return False
        # Of another patient's name, the question has two words at least, or one that it writes with a capital.
        capitals = frozenset(word.word for word in self._words if word.capital and not _says_no_name(word.word))
        others = (frozenset(name) for other in self.others for name in other.names)
        return any(len(name & self._folded) > 1 or not capitals.isdisjoint(name) for name in others)

    def _conflicts(self, name: Name, text_words: Collection[str]) -> bool:
        """Return whether the question names another person with a part of a name."""
        initials = {word.word for word in self._words if len(word.word) == 1}
        missing = [
            word
            for word in name
            if word not in self._folded and not (word[:1] in initials or len(word.strip(".")) == 1)
        ]
        if not missing:
            return False
        parts = frozenset(name) & self._folded
        if self._beside(name, text_words):
            return True
        return any(
            parts < frozenset(other) & self._folded for each in self.others for other in each.names if other != name
        )

    def _beside(self, name: Name, text_words: Collection[str]) -> bool:
        """Return whether a word beside a part of a name is a part of a name, too, that this name lacks."""
        lower = not any(word.capital for word in self._words[1:])
        given = frozenset(part for each in self.others for other in each.names for part in other)
        for place, asked in enumerate(self._words):
            if asked.word not in name:
                continue
            for beside, is_before in ((place - 1, True), (place + 1, False)):
                if not 0 <= beside < len(self._words):
                    continue
                word = self._words[beside]
                if word.word in name or _says_no_name(word.word):
                    continue
                if len(word.word) == 1:
                    if word.capital and not any(part.startswith(word.word) for part in name):
                        return True
                elif word.word in given or (is_before and (word.capital or lower) and word.word not in text_words):
                    return True
        return False


def _says_no_name(word: str) -> bool:
    return word in SAYING_NOTHING or word in PEOPLE or word in _TITLES or word in _NO_NAMES
