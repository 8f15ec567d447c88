"""Detecting languages: how many questions and texts are right, unsure, or called another language, and how fast.

    AUSCULT_DATA=... python benchmarks/language.py

Questions are read as `understanding.question_language` reads them, with the names of the knowledge base. Texts are
passages as `documents.language` reads them. A kind with more than 1,000 of them is sampled.

| in English                | from                                                                      |
|---------------------------|---------------------------------------------------------------------------|
| written questions         | `questions_written/dev`: patients, relatives, nurses in shorthand, keywords |
| consumers' questions      | `consumer_questions`                                                      |
| MedQuAD's questions       | the question of each passage                                              |
| BioASQ's questions        | `qa/bioasq_snippets`                                                      |
| general questions         | `questions/general_questions`                                             |
| sentences of notes        | `clinical_notes/mtsamples`, asked as questions                            |
| names of diseases         | `kg/entities`, alone                                                      |
| titles                    | of MedQuAD's documents, alone                                             |
| names of medicines        | titles of `drug_labels`, alone; half of them no vocabulary has            |
| with names of a language  | English questions of `languages/` on French or Spanish articles and leaflets |

Questions in French, Spanish and German are those of `languages/`, as written and in lower case. Texts are passages of
`languages/`, MedQuAD, drug labels, NHS pages and notes. There is no German text among them, and 22 questions are all
there is in other languages.

Writes benchmarks/results/language.json, and the tables of docs/explanation/other-languages.md. Takes some minutes.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from auscult.catalogue import data_dir
from auscult.concepts import EntityResolver
from auscult.concepts.opening import open_for_questions
from auscult.documents.language import ENGLISH, detect_language, likeliest_language
from auscult.files.json_text import parse_json
from auscult.files.reading import open_unpacked
from auscult.files.writing import write_json, write_text
from auscult.index.languages import detect_languages
from auscult.provenance import stamp
from auscult.understanding import QuestionParser
from auscult.understanding.question_language import are_english, read_language

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "language.json"
PAGE = HERE.parent / "docs" / "explanation" / "other-languages.md"
MARKS = ("<!-- generated: begin -->", "<!-- generated: end -->")
MOST, SEED = 1_000, 0
SETS: Final = {
    "leaflets_fr_dev": "on French leaflets",
    "leaflets_es_dev": "on Spanish leaflets",
    "frwiki_dev": "on French articles",
    "casimedicos": "of exams",
}
SHORT: Final = (
    "IgA nephropathy symptoms", "gout", "CRP", "dx COPD", "clexane dose eGFR 25", "C diff", "Asthma", "Morbus Crohn",
    "cafe au lait spots", "cri du chat syndrome", "tic douloureux", "placenta previa", "von Willebrand",
)  # fmt: skip
OTHERS: Final = {
    "it": ("Quali sono i sintomi della gotta?", "Come si cura una polmonite?", "effetti collaterali del farmaco"),
    "nl": ("Wat zijn de symptomen van jicht?", "Hoe wordt een longontsteking behandeld?", "behandeling van jicht"),
    "pt": ("Quais são os sintomas da gota?", "Como é tratada a pneumonia?", "O que devo fazer contra a febre?"),
    "pl": ("Jakie są objawy dny moczanowej?", "Jak leczy się zapalenie płuc?"),
    "sv": ("Vilka är symtomen på gikt?",),
    "ru": ("Каковы симптомы подагры?",),
    "uk": ("Які симптоми подагри?",),
    "el": ("Ποια είναι τα συμπτώματα της ουρικής αρθρίτιδας;",),
    "tr": ("Gut hastalığının belirtileri nelerdir?",),
    "fi": ("Mitkä ovat kihdin oireet?",),
    "hu": ("Melyek a köszvény tünetei?",),
    "cs": ("Jaké jsou příznaky dny?",),
    "ro": ("Care sunt simptomele gutei?",),
    "ja": ("痛風の症状は何ですか",),
    "zh": ("痛风有哪些症状？",),
}
OTHER: Final = "other"
Kinds = dict[str, tuple[str, list[str]]]
"""By kind the language of its texts, and the texts."""


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a file of JSON lines below the folder of data."""
    with open_unpacked(data_dir() / name) as file:
        yield from map(parse_json, file)


def column(name: str, place: int) -> list[str]:
    """Return a column of a table below the folder of data."""
    with open_unpacked(data_dir() / name) as file:
        return [line.decode("utf-8").rstrip("\n").split("\t")[place] for line in file][1:]


def english_kinds() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the kinds of English questions and names."""
    written = ("questions", "unanswerable")
    yield (
        "written questions",
        [row["question"] for name in written for row in rows(f"questions_written/dev/{name}.jsonl.gz")],
    )
    yield "consumers' questions", [row["question"] for row in rows("consumer_questions/mediqa2019_alexa.jsonl.gz")]
    medquad = [*rows("medquad/documents.jsonl.gz")]
    yield "MedQuAD's questions", [passage["question"] for row in medquad for passage in row["passages"]]
    yield "BioASQ's questions", [row["question"] for row in rows("qa/bioasq_snippets.jsonl.gz")]
    yield "general questions", column("questions/general_questions.tsv.gz", 0)
    notes = [part["text"] for row in rows("clinical_notes/mtsamples.jsonl.gz") for part in row["sections"]]
    yield "sentences of notes", [part for text in notes[::7] for part in text.split(". ")]
    yield "names of diseases", column("kg/entities.tsv.gz", 1)
    yield "titles", [row["title"] for row in medquad]
    yield "names of medicines", [row["title"] for row in rows("drug_labels/fda_labels.jsonl.gz")]
    yield "short ones", SHORT


def question_kinds() -> Kinds:
    """Return all kinds of questions."""
    kinds: Kinds = {kind: (ENGLISH, choose(texts)) for kind, texts in english_kinds()}
    for name, about in SETS.items():
        queries = [*rows(f"languages/{name}/queries.jsonl.gz")]
        for code in dict.fromkeys(query["lang"] for query in queries):
            texts = choose(query["text"] for query in queries if query["lang"] == code)
            kinds[f"{code}, {about}"] = code, texts
            if code != ENGLISH:
                kinds[f"{code}, {about}, in lower case"] = code, [text.lower() for text in texts]
    return kinds


def text_kinds() -> Kinds:
    """Return all kinds of passages."""
    kinds: Kinds = {}
    for name, about in SETS.items():
        documents = [*rows(f"languages/{name}/documents.jsonl.gz")]
        for code in dict.fromkeys(row["lang"] for row in documents):
            texts = (part["text"] for row in documents if row["lang"] == code for part in row["sections"])
            kinds[f"{code}, {about}"] = code, choose(texts)
    english = {
        "MedQuAD": ("medquad/documents.jsonl.gz", "passages"),
        "labels": ("drug_labels/fda_labels.jsonl.gz", "sections"),
        "NHS": ("consumer_health/nhs_pages.jsonl.gz", "sections"),
        "notes": ("clinical_notes/mtsamples.jsonl.gz", "sections"),
    }
    for about, (name, parts) in english.items():
        kinds[f"en, {about}"] = ENGLISH, choose(part["text"] for row in rows(name) for part in row[parts])
    return kinds


def passages_of_documents() -> dict[str, dict[str, Any]]:
    """Return how many passages get which language when their documents are indexed (`auscult.index.languages`)."""
    sets = {
        "en, MedQuAD": ("medquad/documents.jsonl.gz", "passages"),
        "en, NHS": ("consumer_health/nhs_pages.jsonl.gz", "sections"),
        "en, notes": ("clinical_notes/mtsamples.jsonl.gz", "sections"),
        "en, labels": ("drug_labels/fda_labels.jsonl.gz", "sections"),
        "en, articles": ("wikipedia/enwiki_medical.jsonl.gz", "sections"),
        "fr, leaflets": ("languages/leaflets_fr_dev/documents.jsonl.gz", "sections"),
        "es, leaflets": ("languages/leaflets_es_dev/documents.jsonl.gz", "sections"),
        "fr, articles": ("languages/frwiki_dev/documents.jsonl.gz", "sections"),
    }
    counts = {}
    for kind, (name, parts) in sets.items():
        texts = ([part["text"] for part in row[parts] if part["text"].strip()] for row in rows(name))
        counts[kind] = count(kind[:2], [code for some in texts for code in detect_languages(some)[1]])
    return counts


def choose(texts: Iterable[str | None]) -> list[str]:
    """Return at most 1,000 texts, drawn by chance."""
    every = [" ".join(text.split()) for text in texts if text and text.strip()]
    return every if len(every) <= MOST else random.Random(SEED).sample(every, MOST)


def count(expected: str, found: Sequence[str]) -> dict[str, Any]:
    """Return the number of texts, and in percent those that are right, unsure, or called another language."""
    share = 100 / len(found)
    wrong = Counter(code for code in found if code not in ("", expected))
    return {
        "number": len(found),
        "right": round(share * found.count(expected), 2),
        "unsure": round(share * found.count(""), 2),
        "another": round(share * wrong.total(), 2),
        "called": dict(wrong.most_common(3)),
    }


def measure_loading() -> dict[str, float]:
    """Return the seconds and megabytes that the first text costs, in a process of its own on Linux."""
    program = (
        "import time, auscult.documents.language as l; held = lambda: int(open('/proc/self/statm').read().split()[1]);"
        "before, begun = held(), time.process_time(); l.detect_language('x');"
        "print(time.process_time() - begun, (held() - before) * 4096 / 2**20)"
    )
    runs = [
        [*map(float, subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout.split())]
        for _ in range(3)
    ]
    seconds, megabytes = min(runs)
    return {"seconds": round(seconds, 2), "megabytes": round(megabytes)}


def milliseconds(texts: Sequence[str], detect: Any) -> float:
    """Return the milliseconds of processor time that a text takes."""
    begun = time.process_time()
    for text in texts:
        detect(text)
    return round(1000 * (time.process_time() - begun) / len(texts), 3)


def main() -> None:
    """Measure, and write the record and the tables."""
    questions, texts = question_kinds(), text_kinds()
    parser = QuestionParser(EntityResolver(open_for_questions()))
    asked = {
        kind: count(code, [read_language(text, parser, str).code for text in some])
        for kind, (code, some) in questions.items()
    }
    found = {text: read_language(text, parser, str).code for texts in OTHERS.values() for text in texts}
    right = [found[text] if found[text] != code else OTHER for code, texts in OTHERS.items() for text in texts]
    asked[f"in {len(OTHERS)} other languages"] = count(OTHER, right)
    for kind, (_, some) in questions.items():
        asked[kind]["not_loaded"] = round(100 * sum(are_english(text, parser) for text in some) / len(some), 2)
    english = questions["written questions"][1]
    record = {
        "kind": "language",
        "questions": [{"of": kind, **row} for kind, row in asked.items()],
        "texts": [{"of": kind, **count(code, [*map(detect_language, some)])} for kind, (code, some) in texts.items()],
        "documents": [{"of": kind, **row} for kind, row in passages_of_documents().items()],
        "loading": measure_loading(),
        "milliseconds": {
            "question": milliseconds(english, lambda text: read_language(text, parser, str)),
            "passage": milliseconds(texts["en, MedQuAD"][1], likeliest_language),
        },
    }
    write_json(RESULT, record | stamp())
    write_text(PAGE, _filled(PAGE.read_text(encoding="utf-8"), record))
    print(RESULT)


def _filled(page: str, record: Mapping[str, Any]) -> str:
    """Return the page with the tables between its marks written again."""
    lines = []
    titles = {"questions": "Questions", "texts": "Texts alone", "documents": "Passages, with their documents"}
    for part, title in titles.items():
        lines += ["", f"| {title} | number | right | unsure | another language |", "|---|---|---|---|---|"]
        lines += [
            f"| {row['of']} | {row['number']:,} | {row['right']:.1f} | {row['unsure']:.1f} | {row['another']:.2f} |"
            for row in record[part]
        ]
    before, rest = page.split(MARKS[0])
    return "\n".join([before + MARKS[0], *lines, "", MARKS[1] + rest.split(MARKS[1])[1]])


if __name__ == "__main__":
    main()
