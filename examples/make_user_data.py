"""Make a small data set as a user would bring it, for `auscult try`.

    python examples/make_user_data.py MYDATA [--format csv|beir|joined] [--questions 500] [--passages 3000]

Biomedical questions and the snippets that experts chose as their answers (BioASQ, CC BY 2.5), which must lie where
`auscult data list` says. Passages are the answers of the drawn questions, filled up with answers of others.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from auscult_lab.corpora.opening import open_corpus

CORPUS = "bioasq"
MOST_ANSWERS = 6
"""Of a question; some have dozens, which few users would judge."""

Rows = list[tuple[str, str]]


def draw(questions: int, passages: int, seed: int) -> tuple[Rows, Rows, Rows]:
    """Draw (id, text) of questions and of passages, and (question id, passage id) of those that answer."""
    corpus = open_corpus(CORPUS)
    asked = {query.query_id: query.text for split in ("train", "test") for query in corpus.queries(split)}
    texts = {
        passage.passage_id: " ".join(document.slice(passage).split())
        for document in corpus.documents()
        for passage in document.passages
    }
    answers: dict[str, list[str]] = {}
    for split in ("train", "test"):
        for judgement in corpus.judgements(split):
            if judgement.relevance > 0:
                answers.setdefault(judgement.query_id, []).append(judgement.passage_id)
    chance = random.Random(seed)
    chosen = chance.sample(sorted(answers), min(questions, len(answers)))
    judged = [(asked_id, each) for asked_id in chosen for each in answers[asked_id][:MOST_ANSWERS]]
    kept = list(dict.fromkeys(passage_id for _, passage_id in judged))
    # An answer beyond the first few of a drawn question would count as wrong: it stays out.
    own = {passage_id for asked_id in chosen for passage_id in answers[asked_id]}
    others = sorted(set(texts) - own)
    chance.shuffle(others)
    kept += others[: max(passages - len(kept), 0)]
    chance.shuffle(kept)
    return [(each, asked[each]) for each in chosen], [(each, texts[each]) for each in kept], judged


def write(folder: Path, form: str, questions: Rows, passages: Rows, judged: Rows) -> None:
    """Write them in one of the formats that `auscult try` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == "csv":
        write_csv(folder / "questions.csv", ("id", "question"), questions)
        write_csv(folder / "passages.csv", ("id", "text"), passages)
        write_csv(folder / "judgements.csv", ("question id", "passage id", "relevance"), ((*row, 1) for row in judged))
    elif form == "beir":
        write_lines(folder / "queries.jsonl", ({"_id": row[0], "text": row[1]} for row in questions))
        write_lines(folder / "corpus.jsonl", ({"_id": row[0], "title": "", "text": row[1]} for row in passages))
        write_csv(folder / "qrels.csv", ("query-id", "corpus-id", "score"), ((*row, 1) for row in judged))
    else:
        asked, texts = dict(questions), dict(passages)
        chance = random.Random(0)
        rows = [(asked[question], texts[passage], 1) for question, passage in judged]
        answers: dict[str, set[str]] = {}
        for question, passage in judged:
            answers.setdefault(question, set()).add(passage)
        for question, text in questions:
            wrong = [each for each in chance.sample(sorted(texts), 10) if each not in answers[question]]
            rows += [(text, texts[each], 0) for each in wrong[:5]]
        write_csv(folder / "everything.csv", ("question", "passage", "label"), rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def write_lines(path: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Read the arguments, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", choices=("csv", "beir", "joined"), default="csv")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--passages", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write(given.folder, given.format, *draw(given.questions, given.passages, given.seed))


if __name__ == "__main__":
    main()
