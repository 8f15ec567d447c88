"""From what a person gives (entity and aspects, or a question) to a `Query`, with the readings of its entity.

A question is read in two steps, both by rule and both open to inspection:

1. The aspect: the first cue of `CUES` whose pattern the question matches. A cue's pattern usually has a slot
   `X` for the entity ("what are the symptoms of X").
2. The entity: what stands in the slot, less articles and the like. A slot that asks on ("gout and how is it
   treated") ends where it does, and what it asks is another aspect. A slot that is no name of a concept but holds
   one ("my father's asthma") gives way to the longest mention in it.
3. Several things asked about together ("X with Y", "X or Y" of names that are known) are told apart.

Where something is told before it is asked, the sentences that ask are read so. A question that fits no pattern is about
what stands behind its asking words ("side effects of …"), else about what is told that somebody has, what is named more
than once or has a title of its own, else about its longest mention.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from auscult.concepts.aspects import INFORMATION, normalise_heading
from auscult.concepts.identifiers import normalise_identifier
from auscult.concepts.mentions import Mention, MentionLinker
from auscult.concepts.names import normalise_name
from auscult.concepts.resolver import EntityResolver, Match
from auscult.errors import QueryError
from auscult.understanding.asking import (
    asks_from_the_start,
    asks_something_of,
    is_long,
    is_told,
    object_asked_about,
    sentences_that_ask,
    without_diagnosis_told,
)
from auscult.understanding.aspect_words import ASKING_WORDS, ASPECT_WORDS
from auscult.understanding.cues import CUES
from auscult.understanding.query import Query
from auscult.understanding.spelling import SpellingOfWords

_AFFIXES = re.compile(
    r"^(?:(?:an?|the|my|your|his|her|our|their|this|some(?:one|body)(?: with| who has)?|people with|"
    r"patients with|someone'?s|having|getting|suffering from|what i need to know about)\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:(?:be|is|are|together|in general|like|usually|normally|always|really|exactly|cold turkey|suddenly|safely)|"
    r"(?:after|before|during|while|once|at|every) \S.*)$",
    re.IGNORECASE,
)
_TOGETHER = re.compile(r"\s*(?:,\s*(?:and\s+|or\s+)?|\s(?:and|or|vs\.?|versus|with|than|&|plus)\s)\s*", re.IGNORECASE)
# A name is what is asked about if it ends the words or goes on in these; before other words it only describes.
_GOES_ON = re.compile(
    r"^(?:$|\W*$|'s?\b|\W*(?:of|in|on|at|with|without|from|for|by|due|after|before|during|and|or|that|which|type|stage|"
    r"grade|class|patients?|people|sufferers?|disease|disorder|syndrome|symptoms?|problems?|attacks?|i+v?|\d+)\b)",
    re.IGNORECASE,
)
_END = re.compile(r"[\s?.!,;:]+$")
_OWNERS = re.compile(
    r"(?:\s|\b(?:my|her|his|our|their|your|a|the|severe|mild|really|bad|(?:father|mother|parent|child|son|"
    r"daughter|wife|husband|partner|friend|brother|sister)['\u2019]s)\b)*",
    re.IGNORECASE,
)
_NAMED = "|".join(words.pattern.pattern for words in ASPECT_WORDS)
_SMALL_WORDS = frozenset(
    [
        "what", "how", "why", "which", "who", "is", "are", "the", "a", "an", "does", "do", "can", "of", "for", "and",
        "in", "with", "&",
    ]
)  # fmt: skip
_MOST_WORDS = 4
_SYMPTOMS = "SYMP:"
_LONG_WORD = 7
# What is never asked about by itself.
_OF_SOMETHING = re.compile(
    rf"(?:\b(?:options|flare[- ]?ups?|attacks?|episodes?|relapses?|(?:next )?steps|chances|odds)|{_NAMED})$",
    re.IGNORECASE,
)
_OF_A_PART = re.compile(r"the\s\S.*\s(?:of|in|between|for|to|on|from|by|that)\s\S", re.IGNORECASE)
_HAD = re.compile(r"\b(?:with|have|has|had|having|got)(?: an?)? (?P<name>[A-Z]{2,6})\b")
_OWNER = re.compile(r"\b(?P<owner>[^\W\d_]{4,})['\u2019]?s\b")
_PRONOUNS = frozenset({"it", "this", "that", "these", "those", "they", "he", "she", "i", "we", "you", "me"})
_AROUND_NAMES = _SMALL_WORDS | _PRONOUNS | {"to", "while"}
_ASKING = "|".join(
    (
        _NAMED,
        *(rf"\b(?:{re.escape(word)})(?!\w)" for word in sorted(_SMALL_WORDS | _PRONOUNS) if word != "&"),
        r"\b(?:its|their|them|or|be|should|usually)\b",
    )
)
_ASKS_ON = re.compile(
    rf"^(?P<x>.+?)(?P<rest>\b(?:\W+(?:{_ASKING}))?[\s,;]+(?:and|or|&)(?:\W+(?:{_ASKING}))*)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules make of a question.

    Attributes:
        entity: The words for the entity, as the person wrote them; empty when none were found.
        aspects: As `Query.aspects`.
        mention: The longest known name inside the entity ("asthma" of "asthma in children"), looked for only
            where the entity as a whole names nothing known; else empty. One that only describes what is asked
            about ("flu" of "flu shot") is none.
        parts: The things asked about, where they are several ("ibuprofen", "warfarin"); else empty.
    """

    entity: str
    aspects: tuple[str, ...]
    mention: str = ""
    parts: tuple[str, ...] = ()


class QuestionParser:
    """Reads free questions.

    Args:
        resolver: Says whether the words in a slot name a concept.
        linker: Finds mentions where no slot does. Where none is given, each question that needs one gets one of the
            few names that it can hold; a linker of all names takes seconds to build.
        titles: Of the documents that are asked, normalised: names, too, though of nothing that is known.
    """

    def __init__(
        self, resolver: EntityResolver, linker: MentionLinker | None = None, titles: Collection[str] = ()
    ) -> None:
        self._resolver = resolver
        self._linker = linker
        self._titles = titles

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words of all names and titles, normalised."""
        names = (*self._resolver.knowledge_base.name_index, *self._titles)
        return frozenset(word for name in names for word in name.split())

    @cached_property
    def spelling(self) -> SpellingOfWords:
        """Corrects words to those of names, of titles, and those that questions are asked with."""
        return SpellingOfWords((*self._resolver.knowledge_base.name_index, *self._titles), ASKING_WORDS)

    @property
    def resolver(self) -> EntityResolver:
        """What resolves the entity."""
        return self._resolver

    def read(self, question: str) -> Reading:
        """The entity and the aspects of a question.

        Args:
            question: "How is Crohn's disease treated?", "asthma causes and treatment", "IgA nephropathy".

        Returns:
            An empty entity when nothing names one. Where the question speaks of no aspect, ("information",) if it only
            names something ("gout?"), none if it asks something else of it ("Can I drive with epilepsy?").
        """
        text = without_diagnosis_told(_END.sub("", " ".join(question.split())))
        asking = tuple(_END.sub("", sentence) for sentence in sentences_that_ask(text))
        for sentence in (text, *asking) if asks_from_the_start(text) else asking:
            reading = self._by_cue(sentence)
            if reading and self._may_be_meant(reading, text):
                return reading
        return self._by_words(text, asking)

    def _by_cue(self, text: str) -> Reading | None:
        for cue in CUES:
            found = cue.pattern.match(text)
            if found:
                slots = found.groupdict(default="")
                both = tuple(filter(None, (_trimmed(slots.get(name, "")) for name in "xy")))
                slot = " and ".join(both)
                named = _aspects_named(slots.get("aspects", ""))
                aspects = tuple(dict.fromkeys((cue.aspect, *named) if cue.aspect else named))
                if slot and aspects:
                    reading = self._reading(slot, aspects, both if len(both) > 1 else ())
                    return replace(reading, aspects=()) if self._is_part_of_a_thing(slots, reading) else reading
        return None

    def _is_part_of_a_thing(self, slots: Mapping[str, str], reading: Reading) -> bool:
        """Whether what is asked for is nothing with a name: "what is the role of antibodies in mumps"."""
        if reading.aspects != (INFORMATION,) or not _OF_A_PART.match(slots.get("x", "").strip()):
            return False
        return not self._is_named(reading.entity)

    def _by_words(self, text: str, sentences: Sequence[str]) -> Reading:
        asking = " ".join(sentences)
        # Of a long message what is asked first is what it is about.
        for part in (sentences[0] if sentences else text,) if is_long(text) else (asking, text):
            asked_about = _trimmed(object_asked_about(part))
            if not asked_about:
                continue
            rest = (part.replace(asked_about, " ") for part in (asking, text))
            named = next(filter(None, map(_aspects_named, rest)), _aspect_of_none(part, asked_about))
            reading = self._reading(asked_about, named)
            if self._may_be_meant(reading, text):
                return reading
        mention = self._mention_meant(text, asking) if is_long(text) else self._longest_mention(text)
        aspects = _aspects_named(asking.replace(mention, " ", 1) if mention else asking)
        aspects = aspects or _aspects_named(text.replace(mention, " ", 1) if mention else text)
        if not mention:
            left = _trimmed(_without_aspect_words(text)) if aspects else _trimmed(text)
            # A few words may be a name that no vocabulary lists; a sentence is none, nor are words nobody knows.
            mention = left if len(left.split()) <= _MOST_WORDS and (aspects or self._may_name(left)) else ""
        if mention and not aspects:
            # A message that tells and asks nothing is of what it tells.
            aspects = _aspect_of_none(asking or ("" if is_long(text) else text), mention)
        return Reading(mention, aspects)

    def _is_no_name(self, reading: Reading) -> bool:
        """Whether what was read as a name is rather a part of a sentence ("it and stop the attacks")."""
        if reading.parts or reading.mention or self._is_named(reading.entity):
            return False
        # A single long word may be a medicine that no vocabulary has.
        return " " in reading.entity or len(reading.entity) < _LONG_WORD

    def _may_be_meant(self, reading: Reading, text: str) -> bool:
        """Whether a reading is of a name, or of words that nothing better stands beside.

        In a long message it does; in a short one where something known is told that somebody has, and the words are
        of something else: "flare ups" in "i have psoriasis what causes flare ups".
        """
        if is_long(text):
            return not self._is_no_name(reading)
        if not _OF_SOMETHING.search(reading.entity) or self._is_known(reading.entity):
            return True
        return not any(is_told(text, mention.start) for mention in self._mentions(text))

    def _mention_meant(self, text: str, asking: str) -> str:
        """Return the mention that a long message is about; empty where it has none."""
        mentions = self._mentions(text)
        if not mentions:
            return self._longest_mention(text)
        named: dict[str, list[Mention]] = {}
        for mention in mentions:
            named.setdefault(mention.concept_id, []).append(mention)

        def weight(concept_id: str) -> float:
            """What somebody is told to have is meant, and what is asked about; a disease before its symptoms."""
            each = named[concept_id]
            told = any(is_told(text, mention.start) for mention in each)
            asked = any(mention.name in asking for mention in each)
            symptom = concept_id.startswith(_SYMPTOMS)
            return 2.0 * told + asked + self._has_title(each[0]) - 1.5 * symptom + 0.5 * len(each)

        meant = max(named, key=weight)
        return max((mention.name for mention in named[meant]), key=len)

    def _has_title(self, mention: Mention) -> bool:
        concept = self._resolver.knowledge_base.concepts.get(mention.concept_id)
        names = (mention.name, *(concept.names if concept else ()))
        return any(normalise_name(name) in self._titles for name in names)

    def _may_name(self, words: str) -> bool:
        """Whether words alone may be a name: a single one, or such as occur in names."""
        known = [word in self.vocabulary for word in normalise_name(words).split()]
        return len(known) == 1 or 2 * sum(known) > len(known)

    def _reading(self, slot: str, aspects: tuple[str, ...], parts: tuple[str, ...] = ()) -> Reading:
        """Return what a slot and aspects are read as.

        Args:
            slot: The words that stand where the entity is named.
            aspects: The aspects that are asked for.
            parts: Where the slot lists several entities, each of them.
        """
        entity, mention = slot, ""
        if not self._is_known(slot):
            slot, further = _asked_on(slot)
            if further:
                aspects = tuple(dict.fromkeys((*(aspect for aspect in aspects if aspect != INFORMATION), *further)))
            entity = slot
            if not (further and self._is_known(slot)):
                mention = self._longest_mention(slot)
                if mention and not _GOES_ON.match(slot[slot.rfind(mention) + len(mention) :]):
                    mention = ""
                # An unlisted name may have a listed one in it ("familial X with Y"): only small words give way.
                if mention and _is_possessed(slot, mention):
                    entity = mention
        if parts:
            parts = self._completed(parts)
        elif entity and not self._is_known(entity):
            parts = self._parts(entity)
        return Reading(entity, aspects, "" if parts else mention, parts)

    def _parts(self, words: str) -> tuple[str, ...]:
        """Names that are listed ("gout and asthma"); empty where one is unknown, for names may hold an "and"."""
        parts = [_trimmed(part) for part in _TOGETHER.split(words)]
        if len(parts) < 2 or not parts[-1]:
            return ()
        full = self._completed(parts)
        return full if all(map(self._is_known, full)) else ()

    def _completed(self, parts: Sequence[str]) -> tuple[str, ...]:
        """Each with the word that the last one lends it ("type 1 and type 2 diabetes"), where that makes it a name."""
        last = parts[-1].split()[-1]
        longer = [f"{part} {last}" for part in parts]
        lent = [not self._is_known(part) and self._is_known(more) for part, more in zip(parts, longer, strict=True)]
        return tuple(more if lends else part for part, more, lends in zip(parts, longer, lent, strict=True))

    def _is_named(self, words: str) -> bool:
        """Whether something known or a document is called so."""
        return self._is_known(words) or normalise_name(words) in self._titles

    def _is_known(self, name: str) -> bool:
        return bool(self._resolver.resolve(name, limit=1, fuzzy=False))

    def _longest_mention(self, text: str) -> str:
        found = [mention.name for mention in self._mentions(text)]
        return max(found or self._owners(text) or self._abbreviations(text), key=len, default="")

    def _mentions(self, text: str) -> list[Mention]:
        linker = self._linker or MentionLinker.of_short_text(self._resolver.knowledge_base, text)
        return linker.link_text(text)

    def _abbreviations(self, text: str) -> list[str]:
        """Known names in capitals that somebody has ("my baby has RSV"), which are too short to be looked for in texts.

        Elsewhere capitals are as often a gene's or a method's.
        """
        if text.isupper():
            return []
        return [found["name"] for found in _HAD.finditer(text) if self._is_known(found["name"])]

    def _owners(self, text: str) -> list[str]:
        """Words that stand for what somebody described: "alzheimers" for Alzheimer's disease."""
        found = []
        for match in _OWNER.finditer(text):
            named = self._resolver.resolve(match.group(), limit=1, fuzzy=False)
            owner = f"{match.group('owner').lower()}'s "
            if named and any(name.lower().startswith(owner) for name in named[0].concept.names):
                found.append(match.group())
        return found


def parse_query(
    entity: str | None = None,
    aspects: list[str] | None = None,
    text: str | None = None,
    resolver: EntityResolver | None = None,
    parser: QuestionParser | None = None,
    reading: Reading | None = None,
) -> tuple[Query, list[Match]]:
    """Build a query from its parts, from a question, or from both (given parts win).

    The entity keeps the person's own words when they are a name, because a model falls back to the words of
    an entity it has not seen (arnold2020 section 3.1); an identifier is replaced by the preferred name of what
    it stands for.

    Args:
        entity: Name, synonym, misspelling or identifier; None to take it from the question.
        aspects: Headings; "signs and symptoms" counts as two. None or empty to take them from the question;
            with no question, the query has none.
        text: A free question.
        resolver: Resolves the entity; without one (and without a parser) the entity stays unresolved words.
        parser: Reads questions; needed only with `text` where several questions share one parser.
        reading: Of the text, where it has been read.

    Returns:
        The query and the readings of its entity, best first; `Query.entity_id` is the best one's, or empty. A question
        that names none gives a query without entity: it is never taken for a name.

    Raises:
        QueryError: There is neither an entity nor a question, or an identifier is unknown.
    """
    resolver = resolver or (parser.resolver if parser else None)
    mention = ""
    is_given = bool(entity and entity.strip())
    if text and text.strip() and (not entity or not aspects):
        if resolver is None:
            raise QueryError("an entity and aspects, or a resolver", "a question alone", "give --entity and --aspect")
        reading = reading or (parser or QuestionParser(resolver)).read(text)
        aspects = aspects or list(reading.aspects)
        if not entity:
            entity, mention = reading.entity, reading.mention
    entity = (entity or "").strip()
    if not (entity or (text and text.strip())):
        raise QueryError("an entity", "none", "name a disease or a symptom")
    headings = tuple(dict.fromkeys(part for aspect in aspects or () for part in normalise_heading(aspect)))
    matches = resolver.resolve(entity) if resolver and entity else []
    if resolver and mention and (not matches or matches[0].kind == "fuzzy"):
        matches = [*resolver.resolve(mention), *matches]
    identifier = normalise_identifier(entity)
    if matches and matches[0].kind == "identifier":
        entity = matches[0].concept.name
    elif identifier and not matches and is_given:
        remedy = "give a name, or an identifier such as DOID:2986 or UMLS:C0017661"
        raise QueryError("an identifier of the knowledge base", repr(identifier), remedy)
    entity_id = matches[0].concept.concept_id if matches else ""
    return Query("", entity, headings, entity_id, (text or "").strip()), matches


def _trimmed(slot: str) -> str:
    slot = _TAIL.sub("", _END.sub("", slot.strip()))
    words = _AFFIXES.sub("", slot).strip(" \t'\"")
    return "" if words.lower() in _PRONOUNS else words


def _asked_on(slot: str) -> tuple[str, tuple[str, ...]]:
    """A slot without what it asks besides, and the aspects of that: "gout treated and" of "how is X prevented"."""
    found = _ASKS_ON.match(slot)
    further = _aspects_named(found.group("rest")) if found else ()
    return (_trimmed(found.group("x")), further) if found and further else (slot, ())


def _aspects_named(text: str) -> tuple[str, ...]:
    """The aspects whose words a text uses, in the order of the text."""
    found = []
    for words in ASPECT_WORDS:
        if match := words.pattern.search(text):
            found.append((match.start(), words.aspect))
            # What has been understood is not another aspect besides ("a missed dose" is no dosage).
            text = words.pattern.sub(lambda each: "\0" * len(each.group()), text)
    return tuple(dict.fromkeys(aspect for _, aspect in sorted(found)))


def _aspect_of_none(text: str, name: str) -> tuple[str, ...]:
    """Of a question that speaks of no aspect: what its name stands for, unless something else is asked of that."""
    return () if asks_something_of(text, name) else (INFORMATION,)


def _without_aspect_words(text: str) -> str:
    for words in ASPECT_WORDS:
        text = words.pattern.sub(" ", text)
    left = text.split()
    while left and left[0].lower() in _AROUND_NAMES:
        left.pop(0)
    while left and left[-1].lower() in _AROUND_NAMES:
        left.pop()
    return " ".join(left)


def _is_possessed(slot: str, mention: str) -> bool:
    """Whether what stands around a mention is only whose or which it is ("my father's asthma")."""
    return bool(_OWNERS.fullmatch(slot.replace(mention, " ", 1)))
