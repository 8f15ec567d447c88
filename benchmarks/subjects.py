"""Whether another medicine or another patient is marked as the answer.

    python benchmarks/subjects.py [--model MODEL ...]

**Formularies.** 30 questions ("clexane dose eGFR 25") over six documents of twelve medicines: a table of HTML, a sheet,
a handbook with title lines, one with headings, a list, and a table whose first column is a group. Counted are questions

    right            whose first hit marks a sentence of the asked row
    other_in_hit     whose first hit marks a sentence of another row
    other_in_opened  whose opened document marks or frames one
    beyond_hit       whose opened document marks a sentence that the hit does not
    missed           whose span lacks a marked sentence of the hit

**Patients.** 200 questions for a value of one of two patients of one surname, 20 surnames, over HL7 messages, notes,
a sheet, a handover list and FHIR observations. Three of five questions say the first name, the others the number of the
record; the readers of HL7 and FHIR give both. Counted are questions

    right            where a hit marks the asked value
    other_marked     where a hit marks a sentence about the other patient of the surname
    other_may_answer where a hit with nothing but the other patient may answer

`before` marks and frames as versions without `search.subjects` did: whatever is most like the question.

Writes benchmarks/results/subjects.json, one record per model. Five minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import openpyxl

from auscult.documents import Document
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.ingest.files import FilesCorpus
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL
from auscult.search.findings import Findings
from auscult.search.spans import find_answer, score_document
from auscult.understanding import Query

RESULT = Path(__file__).resolve().parent / "results" / "subjects.json"
KIND = "subjects"
SHOWN: Final = 10
MEDICINES: Final = (
    ("Enoxaparin (Clexane)", "Blood", "1.5 mg/kg once daily", "eGFR 15-30: 1 mg/kg once daily. Avoid below 15."),
    ("Colchicine", "Joints", "500 micrograms twice daily", "eGFR 10-50: reduce the dose. Avoid if eGFR below 10."),
    ("Vancomycin", "Infections", "15-20 mg/kg twice daily", "eGFR 20-50: 1 g every 24 hours. Monitor levels."),
    ("Apixaban (Eliquis)", "Blood", "5 mg twice daily", "eGFR 15-29: 2.5 mg twice daily. Avoid if eGFR below 15."),
    ("Levetiracetam (Keppra)", "Nerves", "500 mg twice daily", "eGFR 30-49: 250-750 mg twice daily dose."),
    ("Digoxin", "Heart", "125 micrograms daily", "eGFR 10-50: 62.5 micrograms daily dose. Check the level."),
    ("Gabapentin (Neurontin)", "Nerves", "300 mg three times daily", "eGFR 15-29: 200-700 mg daily dose."),
    ("Metformin (Glucophage)", "Hormones", "500 mg twice daily", "eGFR 30-45: halve the dose. Stop below 30."),
    ("Allopurinol (Zyloric)", "Joints", "100-300 mg daily", "eGFR 10-20: 100-200 mg daily dose."),
    ("Aciclovir", "Infections", "800 mg five times daily", "eGFR 10-25: 800 mg three times daily dose."),
    ("Ramipril (Tritace)", "Heart", "2.5-10 mg daily", "eGFR 30-60: start with a dose of 1.25 mg. At most 5 mg."),
    ("Ciprofloxacin (Ciproxin)", "Infections", "500 mg twice daily", "eGFR 30-60: 250-500 mg twice daily dose."),
)
WORDINGS: Final = ("{} dose eGFR 25", "what dose of {} if the eGFR is 40", "{} renal impairment dose")
SURNAMES: Final = (
    "Smith", "Jones", "Brown", "Patel", "Khan", "Taylor", "Wilson", "Evans", "Walker", "Wright", "Hughes", "Edwards",
    "Turner", "Cooper", "Morris", "Murphy", "Bailey", "Bennett", "Marshall", "Foster",
)  # fmt: skip
FIRST_NAMES: Final = (("John", "Mary"), ("Peter", "Susan"), ("Ahmed", "Fatima"), ("David", "Helen"), ("Omar", "Grace"))
TESTS: Final = (("Potassium", "mmol/L"), ("Sodium", "mmol/L"), ("Creatinine", "umol/L"), ("Haemoglobin", "g/L"))
COUNTS = ("questions", "right", "other_in_hit", "other_in_opened", "beyond_hit", "missed")
OF_PATIENTS = ("questions", "right", "other_marked", "other_may_answer")


def write_formularies(folder: Path) -> Iterator[Path]:
    """Write the documents of many medicines, each into a folder of its own."""
    header = ("Medicine", "Group", "Usual dose", "Renal impairment")

    def place(name: str) -> Path:
        (folder / name).mkdir(parents=True)
        return folder / name

    cells = [header, *MEDICINES]
    (html := place("html")).joinpath("formulary.html").write_text(
        "<h1>Doses of the ward</h1><table>"
        + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
        + "</table>"
    )
    (groups := place("groups")).joinpath("groups.html").write_text(
        "<h1>Doses of the ward</h1><table>"
        + "".join(f"<tr><td>{b}</td><td>{a}</td><td>{c}</td><td>{d}</td></tr>" for a, b, c, d in cells)
        + "</table>"
    )
    book = openpyxl.Workbook()
    book.active.title = "Renal"
    for row in cells:
        book.active.append(row)
    book.save((sheet := place("sheet")) / "renal.xlsx")
    (titles := place("titles")).joinpath("handbook.txt").write_text(
        "Doses of the ward\n\n" + "\n\n".join(f"{a}\n{b}. Usual dose {c}. {d}" for a, b, c, d in MEDICINES)
    )
    (headings := place("headings")).joinpath("handbook.md").write_text(
        "# Doses of the ward\n\n" + "\n\n".join(f"## {a}\n\n{b}. Usual dose {c}.\n\n{d}" for a, b, c, d in MEDICINES)
    )
    (listed := place("list")).joinpath("list.txt").write_text(
        "Doses of the ward\n\n" + "\n".join(f"- {a}: {c}; {d}" for a, _, c, d in MEDICINES)
    )
    yield from (html, groups, sheet, titles, headings, listed)


@dataclass(frozen=True)
class Rows:
    """Where each medicine stands in a document."""

    document: Document

    def of(self, sentence: int) -> int:
        """Return the number of the medicine that a sentence is about; -1 before the first one."""
        at = self.document.sentences[sentence]
        passage = next(each for each in self.document.passages if each.start <= at.start < each.end)
        text = self.document.text
        line = text.find("\n", at.start)
        before = f"{passage.heading}\n" + text[passage.start : at.end if line < 0 else max(at.end, line)]
        starts = [(before.rfind(medicine[0]), number) for number, medicine in enumerate(MEDICINES)]
        last, number = max(starts)
        return number if last >= 0 else -1


def searchers_of(places: Iterable[Path], encoder: DocumentEncoder, folder: Path) -> Iterator[Searcher]:
    """Yield a searcher of an index of each place, which is built in a folder."""
    for place in places:
        index = folder / place.name
        build_index(FilesCorpus(place).documents(), encoder, index)
        yield Searcher.open(index, encoder)


def count_formularies(encoder: DocumentEncoder, *, restricted: bool) -> dict[str, int]:
    """Return the counts of `COUNTS`."""
    counts = dict.fromkeys(COUNTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        places = write_formularies(Path(folder) / "files")
        for form, searcher in enumerate(searchers_of(places, encoder, Path(folder))):
            for turn in range(5):
                asked = (2 * turn + form) % len(MEDICINES)
                name = MEDICINES[asked][0].partition(" (")
                word = (name[2].rstrip(")") or name[0]).lower()
                query = searcher.understand(Query("", "", text=WORDINGS[turn % 3].format(word))).query
                judged = _judged(searcher, query, asked, restricted=restricted)
                counts["questions"] += 1
                for count, is_so in judged.items():
                    counts[count] += is_so
    return counts


def _judged(searcher: Searcher, query: Query, asked: int, *, restricted: bool) -> dict[str, bool]:
    found = searcher.find(query, SHOWN)
    row, reader = found.rows[0], searcher.index.reader
    document = reader.document(found.document(0))
    rows, passage = Rows(document), row - reader.passages_of(found.document(0)).start
    first = sum(len(each.sentences) for each in document.passages[:passage])
    last = first + len(document.passages[passage].sentences)
    of_hit = {first + number for number in marked_in(found, 0, restricted=restricted)}
    if restricted:
        answer = find_answer(searcher, query, document.doc_id)
        of_opened, span = set(answer.marked), answer.span
    else:
        of_opened, span = of_hit, score_document(searcher, query, document.doc_id).best(first, last)
    framed = set(range(span.first, span.last)) if span else set()
    return {
        "right": any(rows.of(number) == asked for number in of_hit),
        "other_in_hit": any(rows.of(number) not in (asked, -1) for number in of_hit),
        "other_in_opened": any(rows.of(number) not in (asked, -1) for number in of_opened | framed),
        "beyond_hit": not of_opened <= of_hit,
        "missed": not of_hit <= framed,
    }


def marked_in(found: Findings, number: int, *, restricted: bool) -> frozenset[int]:
    """Return the sentences that a hit marks; not restricted, whatever they are about."""
    if restricted:
        return found.marked(number)
    stored = found.reader.stored(found.rows[number])
    return found.marker.marked(stored.passage, stored.text, stored.vectors)


@dataclass(frozen=True)
class Patient:
    """A patient, and a value of each test, which nobody else has."""

    first: str
    last: str
    number: str
    born: str
    values: tuple[str, ...]


def patients() -> list[tuple[Patient, Patient]]:
    """Return pairs of patients of one surname."""
    pairs = []
    for row, surname in enumerate(SURNAMES):
        pair = []
        for column, first in enumerate(FIRST_NAMES[row % len(FIRST_NAMES)]):
            count = 2 * row + column
            values = tuple(f"{100 * (test + 1) + count}.{1 + count % 9}" for test in range(len(TESTS)))
            born = f"19{30 + count}-0{1 + count % 9}-1{count % 10}"
            pair.append(Patient(first, surname, f"{70310 + 7 * count}", born, values))
        pairs.append((pair[0], pair[1]))
    return pairs


def write_hl7(patient: Patient) -> str:
    """Return a message with the patient's values."""
    lines = [
        "MSH|^~\\&|LAB|H|X|H|202303040900||ORU^R01|1|P|2.5",
        f"PID|1||{patient.number}^^^H||{patient.last}^{patient.first}||{patient.born.replace('-', '')}",
        "OBR|1|||1^Blood test|||202303040900",
    ]
    for number, ((test, unit), value) in enumerate(zip(TESTS, patient.values, strict=True), start=1):
        lines.append(f"OBX|{number}|NM|{number}^{test}||{value}|{unit}|||||F")
    return "\r".join(lines)


def write_note(patient: Patient) -> str:
    """Return a note that begins with who the patient is."""
    values = " ".join(f"{test} was {value} {unit}." for (test, unit), value in zip(TESTS, patient.values, strict=True))
    return (
        f"Patient: {patient.first} {patient.last}\nMRN: {patient.number}\nDate of birth: {patient.born}\n\n"
        f"Seen on the ward this morning. {values} No change of the plan.\n"
    )


def write_fhir(patient: Patient) -> str:
    """Return a bundle of a patient and observations."""
    who = {
        "resourceType": "Patient",
        "id": f"p{patient.number}",
        "identifier": [{"type": {"coding": [{"code": "MR"}]}, "value": patient.number}],
    }
    who |= {"name": [{"family": patient.last, "given": [patient.first]}], "birthDate": patient.born}
    entries: list[dict[str, Any]] = [{"resource": who}]
    for (test, unit), value in zip(TESTS, patient.values, strict=True):
        observation = {"resourceType": "Observation", "id": f"{test}{patient.number}".lower(), "status": "final"}
        observation |= {"code": {"text": test}, "subject": {"reference": f"Patient/{who['id']}"}}
        observation |= {"valueQuantity": {"value": float(value), "unit": unit}}
        entries.append({"resource": observation})
    return json.dumps({"resourceType": "Bundle", "type": "collection", "entry": entries})


def write_patients(folder: Path) -> Iterator[Path]:
    """Write the patients' documents, each kind into a folder of its own."""
    everybody = [patient for pair in patients() for patient in pair]
    for kind, suffix, written in (
        ("hl7", "hl7", write_hl7),
        ("notes", "txt", write_note),
        ("fhir", "json", write_fhir),
    ):
        (folder / kind).mkdir(parents=True)
        for patient in everybody:
            (folder / kind / f"r{patient.number}.{suffix}").write_text(written(patient), newline="")
        yield folder / kind
    book = openpyxl.Workbook()
    book.active.title = "Ward"
    book.active.append(("Name", "MRN", "Date of birth", *(test for test, _ in TESTS)))
    for patient in everybody:
        name = f"{patient.last}, {patient.first}"
        book.active.append((name, patient.number, patient.born, *map(float, patient.values)))
    (folder / "sheet").mkdir()
    book.save(folder / "sheet" / "ward.xlsx")
    yield folder / "sheet"
    (folder / "handover").mkdir()
    (folder / "handover" / "list.txt").write_text("Handover\n\n" + "\n".join(map(write_note, everybody)))
    yield folder / "handover"


def count_patients(encoder: DocumentEncoder, *, restricted: bool) -> dict[str, int]:
    """Return the counts of `OF_PATIENTS`."""
    counts = dict.fromkeys(OF_PATIENTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        places = write_patients(Path(folder) / "files")
        for form, searcher in enumerate(searchers_of(places, encoder, Path(folder))):
            for turn, pair in enumerate((*patients(), *(pair[::-1] for pair in patients()))):
                counts["questions"] += 1
                test = (turn + form) % len(TESTS)
                for count, is_so in _of_patient(searcher, *pair, turn, test, restricted=restricted).items():
                    counts[count] += is_so
    return counts


def _of_patient(
    searcher: Searcher, asked: Patient, other: Patient, turn: int, test: int, *, restricted: bool
) -> dict[str, bool]:
    name = TESTS[test][0].lower()
    question = (
        f"{asked.first} {asked.last} {name}",
        f"What is {asked.first} {asked.last}'s {name}?",
        f"{name} of {asked.last}, {asked.first}",
        f"{name} of {asked.last}, MRN {asked.number}",
        f"{asked.last} {name} MRN {asked.number}",
    )[turn % 5]
    query = searcher.understand(Query("", "", text=question)).query
    found = searcher.find(query, SHOWN)
    right = other_marked = may_answer = False
    for number in range(len(found)):
        probability = found.probability(number) if restricted else found.weighed and found.weighed.probabilities[number]
        hit = found.hit(number)
        marked = " ".join(hit.sentences[each].text for each in marked_in(found, number, restricted=restricted))
        right |= asked.values[test] in marked
        told = (*other.values, other.number, f"{other.first} {other.last}", f"{other.last}, {other.first}")
        other_marked |= any(each in marked for each in told)
        only_other = any(value in hit.text for value in other.values) and not any(
            value in hit.text for value in asked.values
        )
        may_answer |= only_other and (probability or 0.0) >= DOUBTFUL
    return {"right": right, "other_marked": other_marked, "other_may_answer": may_answer}


def main() -> None:
    """Measure models, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["fast"], help="what hits are found with")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    records = []
    for model in chosen.model:
        encoder = load_model(model)
        record: dict[str, Any] = {"kind": KIND, "title": encoder.name, "model": encoder.name}
        for part, counted in (("formularies", count_formularies), ("patients", count_patients)):
            record[part] = {"before": counted(encoder, restricted=False), "now": counted(encoder, restricted=True)}
        records.append({**record, **stamp()})
        print(json.dumps(records[-1], indent=1), file=sys.stderr, flush=True)
    write_json(chosen.out, records)


if __name__ == "__main__":
    main()
