"""Sentences found of each patient, in the order of time."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from auscult import schema
from auscult.search.patients import FoundSentence, Patients, by_patient
from auscult.service import answering, models
from auscult.service.caller import Asking
from auscult.service.routes import ERRORS, Stated, audited, searcher_of, to_response

router = APIRouter(tags=["search"])


@router.post("/patients", response_model=schema.PatientList, responses=ERRORS)
def patients(request: Request, asked: models.PatientsRequest, caller: Asking, state: Stated) -> Response:
    """The sentences found of each patient that documents name, with what each says; of the best 500 passages."""
    query = asked.words
    searcher = searcher_of(request, caller, state, "patients", asked.index, query=query)
    understanding = answering.understand(searcher, asked)
    where = answering.conditions(asked.where)
    found = by_patient(searcher, understanding.query, where=where, assertions=asked.assertions)
    ids = list(dict.fromkeys(doc_id for each in found.patients for doc_id in each.documents))
    audited(request, "patients", index=asked.index, query=query, doc_ids=ids, result=len(found.patients))
    understood = answering.understood_response(understanding)
    return to_response(schema.PatientList(understood=understood, patients=patients_response(found), more=found.cut))


def patients_response(found: Patients) -> list[schema.PatientHits]:
    """Return patients as the API answers them."""
    return [
        schema.PatientHits(
            patient=each.name,
            documents=len(each.documents),
            counts={**each.counts},
            first=each.dates[0],
            last=each.dates[1],
            sentences=[_sentence(one) for one in each.sentences],
        )
        for each in found.patients
    ]


def _sentence(found: FoundSentence) -> schema.PatientSentence:
    hit, sentence = found.hit, found.sentence
    return schema.PatientSentence(
        doc_id=hit.doc_id,
        passage_id=hit.passage_id,
        title=hit.title,
        date=found.date,
        heading=hit.heading,
        file=hit.file,
        place=hit.place,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        assertions=[*sentence.assertions],
        score=sentence.score,
        probability=hit.probability,
    )
