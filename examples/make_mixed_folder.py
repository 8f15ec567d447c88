"""Make a folder of thirty files as a hospital or a publisher has them, good ones and bad ones.

    python examples/make_mixed_folder.py DOCUMENTS
    auscult index DOCUMENTS --out INDEX
    auscult serve INDEX

PDF, Word, web pages with menus, Markdown, FHIR, notes, a table, XML, archives; and a scanned PDF, a broken one, an
empty file, a zip bomb and an archive whose members would be written elsewhere. The texts are MedQuAD's (CC BY 4.0) and
the NHS website's (Open Government Licence v3.0) where `AUSCULT_DATA` names a folder that holds them, and the leaflets
that Auscult brings along elsewhere. The same files each time. Needs reportlab.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mixed_formats as made
from mixed_formats import Article

from auscult.files.reading import open_unpacked
from auscult.files.writing import whole_folder
from auscult_lab.demo import LEAFLETS

ARTICLES = 30
_MEDQUAD, _NHS = "medquad/documents.jsonl.gz", "consumer_health/nhs_pages.jsonl.gz"
_HEADINGS = {"information": "Overview", "genetic changes": "Genetic changes", "exams and tests": "Tests"}
_BOMB = 100_000_000


def articles(data: Path | None, seed: int) -> list[Article]:
    """Thirty articles: of the data sets where they are there, else of the leaflets, over and over."""
    if data is None or not (data / _MEDQUAD).is_file() or not (data / _NHS).is_file():
        leaflets = [_leaflet(each) for each in _records(LEAFLETS)]
        return (leaflets * ARTICLES)[:ARTICLES]
    chance = random.Random(seed)
    sources = [
        [found for each in _records(data / _MEDQUAD) if (found := _medquad(each)) is not None],
        [found for each in _records(data / _NHS) if (found := _nhs(each)) is not None],
    ]
    return [each for source in sources for each in chance.sample(source, ARTICLES // 2)]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with open_unpacked(path) as file:
        for line in file:
            yield json.loads(line)


def _leaflet(record: dict[str, Any]) -> Article:
    sections = [(each["heading"], each["text"]) for each in record["sections"]]
    return Article(record["title"], sections, "A leaflet of Auscult (Apache-2.0); no medical advice")


def _medquad(record: dict[str, Any]) -> Article | None:
    """A document of MedQuAD of a usual size; None for others."""
    sections = [
        (_HEADINGS.get(each["qtype"], each["qtype"].capitalize()), each["text"].replace(" - ", "\n- "))
        for each in record["passages"]
        if each["qtype"]
    ]
    if (
        not 3 <= len(sections) <= 8
        or not 1_500 <= sum(len(text) for _, text in sections) <= 9_000
        or not record["title"]
    ):
        return None
    credit = f"{record['source']} by way of MedQuAD, CC BY 4.0"
    return Article(record["title"], sections, credit, record["url"])


def _nhs(record: dict[str, Any]) -> Article | None:
    sections = [(each["heading"].capitalize(), each["text"]) for each in record["sections"] if each["heading"]]
    if len(sections) < 3 or sum(len(text) for _, text in sections) < 1_000:
        return None
    return Article(record["title"], sections, "NHS website, Open Government Licence v3.0", record["url"])


def files(told: Sequence[Article]) -> dict[str, bytes]:
    """The thirty files: path to content."""
    names = [each.title for each in told]
    guideline = made.pdf(told[0:3], "Guidelines of the clinic")
    table = [
        ("Medicine", "Dose", "How often"),
        ("Paracetamol", "500 mg", "every 6 hours"),
        ("Ibuprofen", "400 mg", "every 8 hours"),
    ]
    found = {
        "guidelines/clinic.pdf": guideline,
        "guidelines/emergency.pdf": made.pdf(told[15:17], "Emergency handbook"),
        "guidelines/medicines.pdf": made.pdf(told[3:4], f"{told[3].title}: medicines", table=table),
        "guidelines/journal.pdf": made.pdf(told[4:6], "Reviews in two columns", columns=2),
        "leaflets/short.pdf": made.pdf(told[17:18], told[17].title),
        "leaflets/empty.txt": b"",
        "scans/letter-1998.pdf": made.scan(made.pdf(told[18:19], told[18].title)),
        "scans/interrupted-download.pdf": guideline[: len(guideline) // 3],
    }
    found |= {f"leaflets/{number}.docx": made.docx(told[5 + number]) for number in (1, 2, 3)}
    found |= {f"website/page-{number}.html": made.page(told[18 + number], names[:12]) for number in range(1, 6)}
    found |= {f"notes/topic-{number}.md": made.markdown(told[8 + number]) for number in (1, 2, 3)}
    found |= {f"notes/note-{number}.txt": made.note(told[11 + number]).encode() for number in (1, 2, 3)}
    found |= {
        "notes/old-system.txt": made.note(told[24]).encode("cp1252", "replace"),
        "records/bundle.json": made.fhir_bundle(told[25:27]),
        "records/reports.ndjson": made.fhir_lines(told[27:29]),
        "records/questions.csv": _table(told[29:30] + told[0:1]),
        "records/article.xml": made.xml(told[29]),
        "archives/more-notes.zip": made.zipped(
            {
                "more/copy-of-note-1.txt": made.note(told[12]).encode(),
                "more/page.html": made.page(told[28], names[:5]),
                "more/leaflet.docx": made.docx(told[27]),
            }
        ),
        "archives/bomb.zip": made.zipped({"zeros.txt": bytes(_BOMB)}),
        "archives/traversal.zip": made.zipped({"../../outside.txt": b"Written where nobody asked for it.\n"}),
    }  # fmt: skip
    return found


def _table(told: Sequence[Article]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("id", "title", "text"))
    for number, article in enumerate(told, 1):
        heading, text = article.sections[0]
        writer.writerow((f"row-{number}", article.title, f"{heading}: {text}"))
    return buffer.getvalue().encode()


def make(folder: Path, data: Path | None, seed: int = 1) -> list[str]:
    """Write the folder, which must not be there yet, or be empty; its files' names."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SystemExit(f"expected a new folder, got {folder}, which is there; name another")
    held = files(articles(data, seed))
    with whole_folder(folder) as fresh:
        for name, content in held.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
    return sorted(held)


def main() -> None:
    """Read the arguments and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    named = os.environ.get("AUSCULT_DATA")
    made_files = make(given.folder, Path(named) if named else None, given.seed)
    print(f"{len(made_files)} files in {given.folder}; next: auscult index {given.folder} --out INDEX")


if __name__ == "__main__":
    main()
