"""Put what several notes say of a thing on one time line, patient by patient."""

import tempfile
from pathlib import Path

import auscult
from auscult.search.patients import by_patient

NOTES = Path(__file__).with_name("notes")

with tempfile.TemporaryDirectory() as folder:
    searcher = auscult.build_index(NOTES, out=f"{folder}/index").open()
    asked = searcher.understand(auscult.Query("", "asthma")).query
    for patient in by_patient(searcher, asked).patients:
        print(f"patient {patient.name}, {' to '.join(patient.dates)}")
        for found in patient.sentences:
            print(f"  {found.date}  {', '.join(found.sentence.assertions):12} {found.sentence.text}")
