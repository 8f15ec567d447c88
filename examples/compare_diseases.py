"""See what a collection answers, and what it does not: diseases down, what may be asked of them across."""

import tempfile
from pathlib import Path

import auscult
from auscult.search.coverage import cover

LEAFLETS = Path(__file__).with_name("leaflets")
DISEASES = ("asthma", "gout", "migraine", "celiac disease", "malaria")
ASPECTS = ("symptoms", "treatment", "prevention")

with tempfile.TemporaryDirectory() as folder:
    searcher = auscult.build_index(LEAFLETS, out=f"{folder}/index").open()
    covered = cover(searcher, DISEASES, ASPECTS)
    print(f"{'':16}" + "".join(f"{aspect:14}" for aspect in covered.aspects))
    for disease, row in zip(DISEASES, covered.cells, strict=True):
        print(f"{disease:16}" + "".join(f"{cell.word:14}" for cell in row))
    print(f"answered: {covered.share():.0%}")
