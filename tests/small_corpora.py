"""A corpus of every kind, of a few documents each, written as its source hands it out."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from auscult.concepts import Concept, KnowledgeBase
from auscult.ingest.corpus import Corpus
from auscult.ingest.files import FilesCorpus
from auscult.ingest.rows import CsvCorpus, JsonlCorpus
from auscult_lab.corpora.beir import BeirCorpus
from auscult_lab.corpora.covidqa import CovidQaCorpus
from auscult_lab.corpora.cpgqa import PARAGRAPHS, QUESTIONS, CpgQaCorpus
from auscult_lab.corpora.described import (
    CLINICAL_NOTES,
    DRUG_LABELS,
    NHS,
    OPENSTAX,
    PMC_TRIALS,
    PUBMEDQA,
    WIKIPEDIA,
    DescribedCorpus,
    PubMedQaCorpus,
)
from auscult_lab.corpora.healthqa import HealthQaCorpus
from auscult_lab.corpora.medquad import MedQuadCorpus, MedQuadXmlCorpus
from auscult_lab.corpora.nfcorpus import NfCorpus
from auscult_lab.corpora.note_labels import NoteLabeller
from auscult_lab.corpora.note_queries import NoteQueriesCorpus
from auscult_lab.corpora.notes import MimicCorpus
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import BioasqCorpus, ConsumerQuestionsCorpus
from auscult_lab.corpora.wikisection import WikiSectionCorpus
from auscult_lab.recognition.opening import DictionaryRecognizer
from places import DATA
from small_medquad import write_medquad
from user_data import write_beir

DISEASES = ("Gout", "Asthma", "Migraine", "Scurvy", "Mumps", "Rickets", "Lupus", "Rabies", "Measles", "Cholera")


def _sections(name: str) -> list[dict[str, str]]:
    parts = {"Symptoms": f"{name} hurts, often at night. 𝛼 \u2028 It is red.", "Causes": f"- A germ\n- {name}'s gene."}
    return [{"heading": heading, "text": text} for heading, text in parts.items()]


def _lines(path: Path, records: Iterable[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _articles(folder: Path, **fields: object) -> Path:
    """Records with sections, as most prepared files have them; every other one of a list for testing."""
    rows = [
        {"doc_id": f"a:{name}", "title": name, "sections": _sections(name), "cdv_list": ("train", "test")[n % 2]}
        for n, name in enumerate(DISEASES)
    ]
    named = ({**row, "pmcid": row["doc_id"], "id": row["doc_id"], **fields} for row in rows)
    return _lines(folder / "articles.jsonl", named)


def _notes(folder: Path, count: int = 10) -> DescribedCorpus:
    rows = [
        {
            "note_id": f"mts-{n}", "sample_name": f"Consult {n}", "description": "", "medical_specialty": [],
            "sections": [{"heading": "PLAN", "text": f"Known {DISEASES[n % 3]}. {f'w{n} x{n} y{n} z{n} ' * 8}"}],
        }
        for n in range(count)
    ]  # fmt: skip
    return DescribedCorpus(CLINICAL_NOTES, _lines(folder / "notes.jsonl", rows))


def _medquad(folder: Path) -> MedQuadCorpus:
    write_medquad(folder / "medquad")
    return MedQuadCorpus(folder / "medquad")


def _mimic(folder: Path) -> MimicCorpus:
    header = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT"
    with (folder / "NOTEEVENTS.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header.split(","))
        for n, name in enumerate(DISEASES):
            text = f"Service:\n{name}, he says.\n\nDischarge Medications:\n1. Aspirin.\n"
            writer.writerow([n, n // 2, "", "2151-08-04", "", "", "Discharge summary", "Report", "", "", text])
    return MimicCorpus(folder)


def _healthqa(folder: Path) -> HealthQaCorpus:
    for n, split in enumerate(("train", "dev", "test")):
        others = [f"Section {m} of {DISEASES[n]} tells of other things ." for m in range(9)]
        rows = [f"1\tWhat is {DISEASES[n]} ?\t{DISEASES[n]} hurts . It is red .,"]
        rows += [f"0\tWhat is {DISEASES[n]} ?\t{text}," for text in others]
        (folder / f"pinfo-mz-{split}.txt").write_text("\n".join(rows) + "\n")
    return HealthQaCorpus(folder)


def _nfcorpus(folder: Path) -> NfCorpus:
    (folder / "raw").mkdir()
    rows = [f"MED-{n}\thttp://x/{n}\t{name}\t{name} hurts. It is red.\n" for n, name in enumerate(DISEASES)]
    (folder / "raw" / "doc_dump.txt").write_text("".join(rows))
    for n, split in enumerate(("train", "dev", "test")):
        (folder / f"{split}.titles.queries").write_text(f"PLAIN-{n}\t{DISEASES[n]} ?\n")
        (folder / f"{split}.3-2-1.qrel").write_text(f"PLAIN-{n}\t0\tMED-{n}\t3\n")
    return NfCorpus(folder)


def _wikisection(folder: Path) -> WikiSectionCorpus:
    made = []
    for name in DISEASES:
        at, text, annotations = 0, "", []
        for section in _sections(name):
            # Places are counted as Java counts, in UTF-16 code units.
            length = len((section["text"] + "\n").encode("utf-16-le")) // 2
            told = {"sectionHeading": section["heading"], "sectionLabel": "other", "begin": at, "length": length}
            annotations.append({"class": "SectionAnnotation", **told})
            at, text = at + length, text + section["text"] + "\n"
        place = {"id": f"https://en.wikipedia.org/wiki/{name}", "type": "disease", "title": name, "abstract": ""}
        made.append({**place, "text": text, "annotations": annotations})
    (folder / "wikisection_en_disease_train.json").write_text(json.dumps(made), encoding="utf-8")
    return WikiSectionCorpus(folder / "wikisection_en_disease_train.json")


def _bioasq(folder: Path) -> BioasqCorpus:
    rows = [
        {
            "question_id": f"q{n}", "question": f"What is {name}?", "type": "summary", "documents": [str(n)],
            "batch": ("train-era-5b", "12b-batch1")[n % 2],
            "snippets": [{"pmid": str(n), "section": "abstract", "begin": 0, "end": 9, "text": f"{name} hurts."}],
        }
        for n, name in enumerate(DISEASES)
    ]  # fmt: skip
    return BioasqCorpus(_lines(folder / "snippets.jsonl", rows))


def _consumer_questions(folder: Path) -> ConsumerQuestionsCorpus:
    rows = [
        {
            "question_id": str(n), "question": f"What is {name}?",
            "answers": [
                {"answer_id": f"{n}_{m}", "reference_score": grade, "url": f"https://www.nih.gov/{name}", "text": text}
                for m, (grade, text) in enumerate([(4, f"{name}: {name} hurts."), (2, f"Not {name}."), (3, None)])
            ],
        }
        for n, name in enumerate(DISEASES)
    ]  # fmt: skip
    return ConsumerQuestionsCorpus(_lines(folder / "questions.jsonl", rows))


def _covidqa(folder: Path) -> CovidQaCorpus:
    articles, questions = [], []
    for n, name in enumerate(DISEASES):
        text = f"On {name}\n\nLicense: cc-by\n\nAbstract: It is red. {'It hurts. ' * 300}\n\nMethods\n\n{name} rests."
        articles.append({"doc_id": f"covidqa:{n}", "text": text})
        answers = [{"text": "Methods", "start": text.index("Methods")}]
        asked = f"How is {name} studied?"
        questions.append({"question_id": str(n), "doc_id": f"covidqa:{n}", "question": asked, "answers": answers})
    return CovidQaCorpus(_lines(folder / "articles.jsonl", articles), _lines(folder / "questions.jsonl", questions))


def _cpgqa(folder: Path) -> CpgQaCorpus:
    paragraphs, questions = [], []
    for n, name in enumerate(DISEASES):
        text = f"{name} is treated with rest. It heals."
        paragraphs.append({"doc_id": f"c{n}", "title": "Overview", "text": text})
        for part, words in (("how", "with rest"), ("what", name)):
            place = {"doc_id": f"c{n}", "grade": 1, "begin": text.index(words), "length": len(words)}
            questions.append({"query_id": f"{part}{n}", "text": f"{part} of {name}?", "answers": [place]})
    _lines(folder / PARAGRAPHS, paragraphs)
    _lines(folder / QUESTIONS, questions)
    return CpgQaCorpus(folder)


def _drug_labels(folder: Path) -> DescribedCorpus:
    rows = [
        {"doc_id": f"fda:{n}", "title": name, "sections": _sections(name), "brand_names": [name.upper(), "Other"]}
        for n, name in enumerate(DISEASES)
    ]
    return DescribedCorpus(DRUG_LABELS, _lines(folder / "labels.jsonl", rows))


def _pubmedqa(folder: Path) -> PubMedQaCorpus:
    rows = [
        {
            "pmid": str(n),
            "question": f"Does {name} hurt?",
            "sections": _sections(name),
            "split": ("train_dev", "test")[n % 2],
        }
        for n, name in enumerate(DISEASES)
    ]
    return PubMedQaCorpus(PUBMEDQA, _lines(folder / "abstracts.jsonl", rows))


def _table(folder: Path) -> CsvCorpus:
    rows = [f'{n},p{n // 2},"PMH: {name}\nPLAN: rest"\n' for n, name in enumerate(DISEASES)]
    (folder / "notes.csv").write_text("ID,Patient,Text\n" + "".join(rows))
    return CsvCorpus(folder / "notes.csv")


def _texts(folder: Path) -> Corpus:
    for n, name in enumerate(DISEASES):
        (folder / f"p{n // 2}").mkdir(exist_ok=True)
        (folder / f"p{n // 2}" / f"{n}.txt").write_bytes(f"Seen.\r\n\r\nPMH: {name}, [**Hospital**]\r\n".encode())
    return open_corpus(str(folder))


def _files(folder: Path) -> FilesCorpus:
    for n, name in enumerate(DISEASES):
        (folder / f"{n}.md").write_text(f"# {name}\n\n## Symptoms\n\nIt hurts{n}.\n\n## Treatment\n\nRest.\n")
        (folder / f"{n}.txt").write_text(f"PMH: {name}\n\nPLAN:\nRest {n}.\n")
    return FilesCorpus(folder)


def _note_queries(folder: Path) -> NoteQueriesCorpus:
    known = KnowledgeBase([Concept(f"DOID:{n}", name) for n, name in enumerate(DISEASES)])
    return NoteQueriesCorpus(_notes(folder, 60), labeller=NoteLabeller(DictionaryRecognizer(known)))


# By the names of `corpora.opening.READERS`, and the corpora that are opened without one.
CORPORA: dict[str, Callable[[Path], Corpus]] = {
    "medquad": _medquad,
    "wikipedia": lambda folder: DescribedCorpus(WIKIPEDIA, _articles(folder, snapshot="2014")),
    "nhs": lambda folder: DescribedCorpus(NHS, _articles(folder)),
    "openstax": lambda folder: DescribedCorpus(OPENSTAX, _articles(folder, book="A", chapter=["Bone"])),
    "pmc_trials": lambda folder: DescribedCorpus(PMC_TRIALS, _articles(folder)),
    "clinical_notes": _notes,
    "mimic": _mimic,
    "beir": lambda folder: BeirCorpus(write_beir(folder / "beir")),
    "healthqa": _healthqa,
    "nfcorpus": _nfcorpus,
    "wikisection": _wikisection,
    "bioasq": _bioasq,
    "consumer_questions": _consumer_questions,
    "covidqa": _covidqa,
    "cpgqa": _cpgqa,
    "drug_labels": _drug_labels,
    "pubmedqa": _pubmedqa,
    "jsonl": lambda folder: JsonlCorpus(_articles(folder)),
    "csv": _table,
    "text-folder": _texts,
    "files": _files,
    "medquad-xml": lambda folder: MedQuadXmlCorpus(DATA / "medquad_tiny" / "MedQuAD"),
    "note-queries": _note_queries,
}
