"""Read a folder of files, ask it a question, and see which sentence answers and where it stands in its file."""

import tempfile
from pathlib import Path

import auscult

LEAFLETS = Path(__file__).with_name("leaflets")

with tempfile.TemporaryDirectory() as folder:
    index = auscult.build_index(LEAFLETS, out=f"{folder}/index")
    print(f"{index.counts.in_words()}; left out: {len(index.left_out)}")

    searcher = auscult.open_index(index.folder)
    for question in ("How is gout treated?", "signs of a heart attack", "Is cystic fibrosis inherited?"):
        hit = searcher.search(question, k=1)[0]
        print(f"\n{question}\n  {hit.title}, {hit.heading} ({hit.file}, {hit.place})")
        for sentence in hit.sentences:
            print(f"  {'>' if sentence.marked else ' '} {sentence.text}")
