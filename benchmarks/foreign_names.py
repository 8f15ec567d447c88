"""Names in other languages: how many are found, with which English ones they collide, and what they cost.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/foreign_names.py

- **Found**: each Spanish name of the Disease Ontology, as written, without accents, behind an article, and with its
  first word in the plural (no acronyms or words with punctuation). Right if its concept is among the matches, and
  first if it is the first.
- **Collisions**: names that are an English name of another concept.
- **English**: written and consumers' questions, questions of BioASQ, and general questions, evenly spaced. Equal if all
  that is understood of a question is the same with the names and without.
- **Parallel**: exam cases in three languages. Concepts that the English text names (`MentionLinker`) beside those whose
  Spanish or French names the translation has; for development only.
- **Titles**: titles of French articles that name a concept, with everyday names and without. Which is right is unknown.
- **Opening**: time and memory of processes that open the knowledge base and resolve one name.

Writes benchmarks/results/foreign_names.json. Six minutes on one core.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from auscult.catalogue import data_dir, locate
from auscult.concepts import EntityResolver, KnowledgeBase, MentionLinker, normalise_name
from auscult.concepts.adding_names import find_concept, with_names
from auscult.concepts.health_topics import with_health_topics
from auscult.concepts.languages import NamesByLanguage, name_key
from auscult.concepts.opening import EVERYDAY, FRENCH, SPANISH, TOPICS, open_knowledge_base, open_names
from auscult.documents.analysis import fold
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult.index.knowledge import write_knowledge
from auscult.provenance import stamp
from auscult.understanding import Query, QuestionParser
from auscult.understanding.foreign_names import find_foreign
from auscult.understanding.understand import understand

RESULT = Path(__file__).resolve().parent / "results" / "foreign_names.json"
_GENERAL: Final = 3000
_REPEATS: Final = 5
_EXAMPLES: Final = 15
_OPEN_FILE: Final = """
import json, sys, time
from pathlib import Path
from auscult.concepts import EntityResolver
from auscult.index.blocks import BlockFile
from auscult.index.knowledge import open_knowledge
begun = time.process_time()
known = open_knowledge(BlockFile(Path(sys.argv[1]), int(sys.argv[2])))
matches = EntityResolver(known).resolve(sys.argv[3], fuzzy=False, language=sys.argv[4])
taken = time.process_time() - begun
assert matches
most = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"seconds": taken, "mb": int(most) / 1024}))
"""
_OPEN_SAVED: Final = """
import json, sys, time
from auscult.concepts import EntityResolver, KnowledgeBase
begun = time.process_time()
known = KnowledgeBase.load(sys.argv[1])
matches = EntityResolver(known).resolve(sys.argv[3], fuzzy=False, language=sys.argv[4])
taken = time.process_time() - begun
assert matches
most = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"seconds": taken, "mb": int(most) / 1024}))
"""


def plural(name: str) -> str:
    """Return a Spanish name with its first word in the plural: "alergias al Rocephin"."""
    first, blank, rest = name.partition(" ")
    ending = first[-1:].lower()
    if ending == "z":
        first = f"{first[:-1]}ces"
    elif ending == "n" and fold(first[-2:]) == "on":
        first = f"{fold(first)}es"
    else:
        first += "s" if ending in "aeiouáéó" else "" if ending == "s" else "es"
    return f"{first}{blank}{rest}"


def is_word(text: str) -> bool:
    """Return whether a text is a word of letters, and no acronym: it has at most one capital."""
    return text.isalpha() and sum(map(str.isupper, text)) <= 1


VARIANTS: Final[dict[str, Callable[[str], str]]] = {
    "as written": str,
    "without accents": fold,
    "behind an article": lambda name: (
        f"{'la' if name.partition(' ')[0].endswith(('a', 'ión', 'itis')) else 'el'} {name}"
    ),
    "in the plural": plural,
    "in the plural, behind an article": lambda name: f"las {plural(name)}",
}


def found(known: KnowledgeBase, language: str) -> list[dict[str, Any]]:
    """Return for each variant how many Spanish names of the Disease Ontology are resolved to their concept."""
    resolver = EntityResolver(known)
    concepts = {name: find_concept(known, name) for name in open_names(SPANISH).names}
    rows = []
    for variant, change in VARIANTS.items():
        first = among = asked = 0
        for name, concept in concepts.items():
            if "plural" in variant and not is_word(name.name.partition(" ")[0]):
                continue
            asked += 1
            ids = [match.concept.concept_id for match in resolver.resolve(change(name.name), language=language)]
            among += concept is not None and concept.concept_id in ids
            first += concept is not None and ids[:1] == [concept.concept_id]
        rows.append(
            {"variant": variant, "language": language, "names": asked, "first": first / asked}
            | {"among": among / asked}
        )
    return rows


def collisions(known: KnowledgeBase) -> list[dict[str, Any]]:
    """Return by language how many names are an English name, of the same concept or only of others."""
    rows = []
    for language in known.foreign.languages:
        same, other, examples = 0, 0, []
        every = {
            (concept_id, name_key(name)): name
            for concept_id, by_language in known.foreign.of_concepts.items()
            for name in by_language.get(language, ())
        }
        for (concept_id, _), name in every.items():
            owners = known.name_index.get(normalise_name(name), ())
            same += concept_id in owners
            if owners and concept_id not in owners:
                other += 1
                examples.append([name, known.concepts[concept_id].name, known.concepts[owners[0]].name])
        by_key: dict[str, set[str]] = {}
        for concept_id, key in every:
            by_key.setdefault(key, set()).add(concept_id)
        rows.append(
            {
                "language": language,
                "names": len(every),
                "english_of_same_concept": same,
                "english_of_another_concept": other,
                "shared_by_concepts": sum(len(ids) > 1 for ids in by_key.values()),
                "examples": examples[:_EXAMPLES],
            }
        )
    return rows


def questions() -> Iterator[tuple[str, list[str]]]:
    """Yield English questions by source."""
    for part in ("questions", "unanswerable"):
        yield f"dev, {part}", [row["question"] for row in _rows(f"questions_written/dev/{part}.jsonl.gz")]
    yield "consumers", [row["question"] for row in _rows("consumer_questions/mediqa2019_alexa.jsonl.gz")]
    yield "BioASQ", [row["question"] for row in _rows("qa/bioasq_snippets.jsonl.gz")]
    with gzip.open(data_dir() / "questions/general_questions.tsv.gz", "rt", encoding="utf-8") as lines:
        general = [line.split("\t")[0] for line in lines][1:]
    yield "general", general[:: len(general) // _GENERAL][:_GENERAL]


def english(plain: KnowledgeBase, known: KnowledgeBase) -> list[dict[str, Any]]:
    """Return by source how many questions are understood equally with the names, if named English and if unknown."""
    parsers = [QuestionParser(EntityResolver(each)) for each in (plain, known)]
    rows = []
    for source, asked in questions():
        equal = {"en": 0, "": 0}
        different = []
        for text in asked:
            query = Query("", "", text=text)
            before = understand(query, parsers[0])
            for language in equal:
                after = understand(query, parsers[1], language=language)
                equal[language] += after == before
                if after != before:
                    different.append([text, after.note])
        rows.append(
            {"source": source, "questions": len(asked), "equal": equal["en"], "equal_if_unknown": equal[""]}
            | {"examples": different[:_EXAMPLES]}
        )
        print(rows[-1], flush=True)
    return rows


def parallel(known: KnowledgeBase) -> list[dict[str, Any]]:
    """Return by language which concepts of English texts are found in their translations by foreign names."""
    texts = {row["doc_id"]: row["sections"][0]["text"] for row in _rows("languages/casimedicos/documents.jsonl.gz")}
    linker = MentionLinker(known)
    rows = []
    for language in ("es", "fr"):
        concepts = both = named = right = texts_read = 0
        related = 0
        for doc_id, text in texts.items():
            if not doc_id.endswith("-en") or (translated := texts.get(f"{doc_id[:-2]}{language}")) is None:
                continue
            texts_read += 1
            ours = {mention.concept_id for mention in linker.link_text(text)}
            theirs = set(_concepts_in(translated, known, language))
            listed = {each for each in ours if known.foreign.names(each, [language])}
            concepts += len(ours)
            named += len(listed)
            both += len(listed & theirs)
            right += len(theirs)
            related += sum(any(known.relation(each, other) in _NEAR for other in ours) for each in theirs)
        rows.append(
            {"language": language, "texts": texts_read, "concepts_in_english": concepts}
            | {"of_these_with_a_name": named, "of_these_found": both, "found_in_translation": right}
            | {"of_these_in_english_or_above_or_below": related}
        )
    return rows


_NEAR: Final = frozenset({"same", "ancestor", "descendant"})


def _concepts_in(text: str, known: KnowledgeBase, language: str) -> Iterator[str]:
    """Yield the first concept of each foreign name in a text, the longest where they overlap."""
    last = 0
    spans = sorted(find_foreign(text, known.foreign, language), key=lambda span: (span[0], -span[1]))
    for start, end in spans:
        if start >= last:
            last = end
            yield EntityResolver(known).resolve(text[start:end], limit=1, language=language)[0].concept.concept_id


def titles(plain: KnowledgeBase, known: KnowledgeBase) -> dict[str, Any]:
    """Return how many titles of French articles name a concept."""
    listed = sorted({row["title"] for row in _rows("languages/frwiki_dev/documents.jsonl.gz")})
    english_only, french = EntityResolver(plain), EntityResolver(known)
    gained = {
        title: matches[0].concept.name
        for title in listed
        if (matches := french.resolve(title, language="fr")) and matches[0].language == "fr"
    }
    return {
        "titles": len(listed),
        "named_in_english": sum(bool(english_only.resolve(title, language="fr")) for title in listed),
        "named": sum(bool(french.resolve(title, language="fr")) for title in listed),
        "by_a_french_name": len(gained),
        "examples": sorted(gained.items())[:: max(1, len(gained) // _EXAMPLES)],
    }


def opening(plain: KnowledgeBase, known: KnowledgeBase) -> list[dict[str, Any]]:
    """Return time and memory of opening, before and after; the median of several processes, in turns."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for form, script in (("file of an index", _OPEN_FILE), ("saved knowledge base", _OPEN_SAVED)):
            runs: dict[str, list[dict[str, float]]] = {"without": [], "with": []}
            places = {}
            for names, each in (("without", plain), ("with", known)):
                place = Path(folder, f"{names}-{form.replace(' ', '-')}.jsonl.gz")
                end = 0
                if script is _OPEN_FILE:
                    end = write_knowledge(place, each).end
                else:
                    each.save(place)
                places[names] = [str(place), str(end), "gout", "en"]
            for _ in range(_REPEATS):
                for names, arguments in places.items():
                    run = subprocess.run(
                        [sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True
                    )
                    runs[names].append(parse_json(run.stdout))
            for names, of_names in runs.items():
                median = {key: statistics.median(run[key] for run in of_names) for key in ("seconds", "mb")}
                size = Path(places[names][0]).stat().st_size / 1e6
                rows.append({"form": form, "names": names, "repeats": _REPEATS, "file_mb": size, **median})
    return rows


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(data_dir() / name, "rt", encoding="utf-8") as lines:
        yield from map(parse_json, lines)


def with_only(known: KnowledgeBase, specs: Sequence[str]) -> KnowledgeBase:
    """Return a knowledge base with the names of these files alone."""
    return with_names(known.with_foreign(NamesByLanguage()), [open_names(spec) for spec in specs])[0]


def main() -> None:
    """Measure, and write the record."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    plain = with_health_topics(open_knowledge_base(), locate(TOPICS))
    default, spanish = with_only(plain, (EVERYDAY, SPANISH)), with_only(plain, (SPANISH,))
    every, added = with_names(plain, [open_names(spec) for spec in (EVERYDAY, SPANISH, FRENCH)])
    record: dict[str, Any] = {
        "names": [
            {"title": each.source.title, "languages": each.source.languages, "names": each.source.names}
            | {"of_no_concept": each.unknown, "licence": each.source.licence}
            for each in added
        ],
        "found": [*found(spanish, "es"), *found(default, "es"), *found(default, "")],
        "collisions": collisions(every),
        "parallel": parallel(default),
        "titles": titles(plain, default),
        "opening": opening(plain, default),
        "english": english(plain, every),
    }
    for row, names in zip(
        record["found"], [n for n in ("Spanish", "default", "default") for _ in VARIANTS], strict=True
    ):
        row["knowledge_base"] = names
    write_json(RESULT, {"kind": "foreign-names", **record, **stamp()})
    print({key: record[key] for key in record.keys() - {"english"}})


if __name__ == "__main__":
    main()
