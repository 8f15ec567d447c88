"""Tell answers from passages that only come near: each hit has a probability, and a word for it."""

import tempfile
from pathlib import Path

import auscult
from auscult.search.certainty import verdict

LEAFLETS = Path(__file__).with_name("leaflets")
QUESTIONS = (
    "Is cystic fibrosis inherited?",
    "How is gout treated?",
    "What are the symptoms of asthma?",
    "Which vaccine protects against malaria?",
)

with tempfile.TemporaryDirectory() as folder:
    searcher = auscult.build_index(LEAFLETS, out=f"{folder}/index").open()
    for question in QUESTIONS:
        hit = searcher.search(question, k=1)[0]
        probability = hit.probability or 0.0
        print(f"{question:42} {verdict(probability):12} {hit.title}, {hit.heading}")
