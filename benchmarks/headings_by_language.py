"""Headings in French, Spanish and German: share found, false headings per 100 lines, and share with the right aspect.

    AUSCULT_DATA=... python benchmarks/headings_by_language.py [--development]

- Excerpts of letters, ward notes and leaflets (`data/note_excerpts/`, 60 a language, headings and their aspects
  marked). They were written for this before any rule. The rules were adjusted on every second one; the figures are for
  the others. One writer wrote both, so real notes will have headings that these don't.
- Package leaflets (`leaflets_fr_dev`, `leaflets_es_dev`; class "check", measured only), with each heading on a line of
  its own and the text below it. Their questions by aspect say which aspect a heading has. Their texts have headings,
  too, which the data do not mark: headings found in the texts are counted apart.
- Headings of the French Wikipedia (`frwiki_dev`), rendered in the same way; aspects are not judged.

Each is measured with the language given, and as today without it.

Writes benchmarks/results/headings_by_language.json. No text of a leaflet or an article is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.concepts.aspects import normalise_heading
from auscult.documents.note_headings import find_sections
from auscult.files.json_text import parse_json
from auscult.files.writing import write_text
from auscult.provenance import describe_hardware, find_revision, now

HERE: Final = Path(__file__).resolve().parent
RESULT: Final = HERE / "results" / "headings_by_language.json"
EXCERPTS: Final = {"fr": "french.txt", "es": "spanish.txt", "de": "german.txt"}
COLLECTIONS: Final = {"leaflets_fr_dev": "fr", "leaflets_es_dev": "es", "frwiki_dev": "fr"}
ASPECTS: Final[Mapping[str, frozenset[str]]] = {
    "what": frozenset({"uses"}),
    "side": frozenset({"side effects"}),
    "store": frozenset({"storage"}),
    "contain": frozenset({"ingredients"}),
    "warn": frozenset({"warnings"}),
    "dose": frozenset({"dosage", "administration"}),
    "preg": frozenset({"pregnancy and breastfeeding"}),
    "inter": frozenset({"interactions"}),
    "drive": frozenset({"alcohol and driving"}),
    "contra": frozenset({"contraindications"}),
    "forget": frozenset({"missed dose"}),
    "over": frozenset({"overdose"}),
}
"""Aspects of the questions on leaflets by our names."""

_MARKED: Final = re.compile(r"\[\[(.+?)\|([^\]]*)\]\]")
_NUMBER: Final = re.compile(r"^(?:(?:\d{1,2}[.)])+(?:\d{1,2})?\s+)?")

Heading = tuple[int, str]


class Text(NamedTuple):
    """A text, the language it is in, and its headings with the aspects that are right; none where nobody judged."""

    language: str
    text: str
    headings: Mapping[Heading, frozenset[str]]


def read_excerpts(language: str, *, development: bool) -> Iterator[Text]:
    """Yield the excerpts of one half."""
    whole = (HERE / "data" / "note_excerpts" / EXCERPTS[language]).read_text(encoding="utf-8")
    for number, marked in enumerate(whole.removeprefix("#\n").split("\n#\n")):
        if (number % 2 == 1) != development:
            continue
        text, headings, at = "", {}, 0
        for match in _MARKED.finditer(marked):
            text += marked[at : match.start()]
            headings[len(text), match[1]] = frozenset({match[2]} if match[2] else ())
            text += match[1]
            at = match.end()
        yield Text(language, text + marked[at:], headings)


def read_collection(data: Path, name: str) -> Iterator[Text]:
    """Yield the documents of a collection with their headings on lines of their own."""
    aspects: dict[str, set[str]] = defaultdict(set)
    folder = data / "languages" / name
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = {query["query_id"]: query.get("aspect") for query in map(parse_json, lines)}
    with gzip.open(folder / "qrels.tsv.gz", "rt", encoding="utf-8") as lines:
        for query, passage, *_ in (line.split("\t") for line in lines):
            aspects[passage] |= ASPECTS.get(asked.get(query) or "", frozenset())
    source = folder / "documents.jsonl.gz"
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for document in map(parse_json, lines):
            text, headings = "", {}
            for section in document["sections"]:
                words = section["heading"].strip().rstrip(" :.\u00b7")
                number = _NUMBER.match(words)
                skipped = number.end() if number else 0
                headings[len(text) + skipped, words[skipped:]] = frozenset(aspects[section["passage_id"]])
                text += f"{section['heading'].strip()}\n{section['text'].strip()}\n"
            yield Text(COLLECTIONS[name], text, headings)


def measure(texts: list[Text], *, language_given: bool, mistakes: bool = False) -> dict[str, Any]:
    """Return how many headings were found, how many others, and how many have the right aspect."""
    given = found = right = others = lines = judged = with_aspect = 0
    wrong: Counter[str] = Counter()
    for each in texts:
        language = each.language if language_given else "en"
        headings = {
            (section.heading_start, section.heading.rstrip(" :.\u00b7"))
            for section in find_sections(each.text, language=language)
            if section.heading
        }
        given += len(each.headings)
        found += len(headings & each.headings.keys())
        others += len(headings - each.headings.keys())
        lines += sum(bool(line.strip()) for line in each.text.split("\n"))
        wrong.update(f"missed: {words}" for _, words in each.headings.keys() - headings)
        wrong.update(f"other: {words}" for _, words in headings - each.headings.keys())
        for heading, aspects in each.headings.items():
            judged += bool(aspects)
            named = normalise_heading(heading[1], language=language)
            with_aspect += bool(aspects & set(named))
            right += bool(heading in headings and aspects & set(named))
            if aspects and not aspects & set(named):
                wrong[f"aspect: {heading[1]} is {', '.join(named)}, not {', '.join(aspects)}"] += 1
    if mistakes:
        for what, times in sorted(wrong.items(), key=lambda pair: (pair[0].split(":")[0], -pair[1]))[:400]:
            print("   ", times, what, file=sys.stderr)
    return {
        "texts": len(texts),
        "lines": lines,
        "headings": given,
        "found": found,
        "recall": round(found / given, 4),
        "others": others,
        "others_per_100_lines": round(100 * others / lines, 2),
        "headings_with_aspect": judged,
        "aspect_right": with_aspect,
        "aspect_share": round(with_aspect / judged, 4) if judged else None,
        "found_with_aspect": right,
    }


def main() -> None:
    """Measure, and write the result file; with --development, print mistakes on that half of the excerpts instead."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--development", action="store_true", help="measure the half that rules are tuned on")
    chosen = options.parse_args()
    if "AUSCULT_DATA" not in os.environ:
        sys.exit("set AUSCULT_DATA to the folder of the corpora")
    data = Path(os.environ["AUSCULT_DATA"])
    sources = {
        f"excerpts_{language}": list(read_excerpts(language, development=chosen.development)) for language in EXCERPTS
    }
    if not chosen.development:
        sources |= {name: list(read_collection(data, name)) for name in COLLECTIONS}
    results = []
    for name, texts in sources.items():
        given = measure(texts, language_given=True, mistakes=chosen.development)
        without = measure(texts, language_given=False)
        results.append({"texts": name, "with_language": given, "without": without})
        for kind, figures in (("with language", given), ("without", without)):
            shown = [figures[figure] for figure in ("recall", "others_per_100_lines", "aspect_share")]
            print(f"{name:20}{kind:15}", *shown, file=sys.stderr)
    if not chosen.development:
        record = {
            "kind": "headings-by-language",
            "date": now(),
            "revision": find_revision(),
            "python": platform.python_version(),
            "hardware": describe_hardware(),
            "results": results,
        }
        write_text(RESULT, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
