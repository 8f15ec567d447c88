"""Ask questions that follow others: what a question lacks is taken from those before it."""

import tempfile
from pathlib import Path

import auscult

LEAFLETS = Path(__file__).with_name("leaflets")

with tempfile.TemporaryDirectory() as folder:
    searcher = auscult.build_index(LEAFLETS, out=f"{folder}/index").open()
    earlier: list[str] = []
    for question in ("What are the symptoms of asthma?", "and its treatment?", "and of gout?", "What causes it?"):
        understood = searcher.understand(auscult.Query("", "", text=question), earlier)
        hit = searcher.search(understood.query, k=1)[0]
        print(f"{question:35} {understood.query.entity}, {', '.join(understood.query.aspects)}: {hit.answer.text}")
        earlier.append(question)
