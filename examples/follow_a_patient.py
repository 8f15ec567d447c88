"""Put what several notes say of a thing on one time line, patient by patient."""

import tempfile
from pathlib import Path

import auscult
from auscult.search.patients import by_patient

NOTES = (
    ("0071", "2024-02-03", "She has had asthma since childhood. She uses an inhaler every day."),
    ("0071", "2024-06-19", "No asthma attack since spring."),
    ("0082", "2024-03-11", "His mother had asthma. He has gout."),
    ("0082", "2024-09-02", "If asthma is confirmed, an inhaler will be tried."),
)

with tempfile.TemporaryDirectory() as folder:
    for number, (patient, date, text) in enumerate(NOTES):
        note = f"---\npatient: '{patient}'\ndate: {date}\n---\n# Visit\n\n## Course\n\n{text}\n"
        (Path(folder) / f"{number}.md").write_text(note, encoding="utf-8")
    searcher = auscult.build_index(folder, out=f"{folder}/index").open()
    asked = searcher.understand(auscult.Query("", "asthma")).query
    for patient in by_patient(searcher, asked).patients:
        print(f"patient {patient.name}, {' to '.join(patient.dates)}")
        for found in patient.sentences:
            print(f"  {found.date}  {', '.join(found.sentence.assertions):12} {found.sentence.text}")
