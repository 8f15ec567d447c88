"""Write the table of figures in README.md from the records (`make docs`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RECORDS = ROOT / "benchmarks" / "results" / "unseen_documents.json"
#: The least to beat, then the shipped encoders: names in the records, and above their columns.
MODELS = {
    "BM25": "BM25",
    "all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
    "all-MiniLM-L6-v2 + e5-small + splade-tiny": "MiniLM + e5-small + SPLADE",
    "auscult search, General encoder, fast": "`fast`",
    "auscult search, General encoder, best": "`best`",
}
#: Corpora that the latest version was measured on, and what they are; those with questions in people's words first.
#: Corpora whose training questions weights have learned from (adapted) share no table with these.
CORPORA = {
    "covidqa": "questions about articles on COVID-19",
    "consumer-questions": "patients' questions (development)",
    "clinical-notes": "headings of hospital notes",
    "nhs": "headings of NHS pages",
}
_TABLE = re.compile(r"^\| documents \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def readme() -> str:
    """Return README.md with its table as the records say."""
    return _TABLE.sub(lambda _: table(), README.read_text(encoding="utf-8"), count=1)


def table() -> str:
    """Write nDCG@10 in percent of every model on every corpus; a cell is empty where it was not measured."""
    figures = {
        (record["corpus"], record["model"]): 100 * record["measures"]["nDCG@10"]
        for record in json.loads(RECORDS.read_text(encoding="utf-8"))
        if record["track"] != "adapted"
    }
    head = f"| documents | {' | '.join(MODELS.values())} |\n|---|{'---:|' * len(MODELS)}"
    return "\n".join([head, *(_row(corpus, title, figures) for corpus, title in CORPORA.items())])


def _row(corpus: str, title: str, figures: Mapping[tuple[str, str], float]) -> str:
    cells = [f"{figures[corpus, model]:.1f}" if (corpus, model) in figures else "" for model in MODELS]
    return f"| {title} | {' | '.join(cells)} |"


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
