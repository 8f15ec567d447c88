"""Route for the sentences found for each patient, ordered by date."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from auscult import schema
from auscult.schema import select_fields
from auscult.search.patients import Patients, by_patient
from auscult_service import answering, models
from auscult_service.caller import Asking
from auscult_service.routes import ERRORS, Stated, note_audit, searcher_of, to_response

router = APIRouter(tags=["search"])


@router.post("/patients", response_model=schema.PatientList, responses=ERRORS)
def patients(request: Request, body: models.PatientsRequest, caller: Asking, state: Stated) -> Response:
    """The sentences found for each patient, with what they say about the entity, from the best 500 passages."""
    query = body.words
    searcher = searcher_of(request, caller, state, "patients", body.index, query=query)
    understanding = answering.understand(searcher, body)
    where = answering.conditions(body.where)
    result = by_patient(searcher, understanding.query, where=where, assertions=body.assertions)
    ids = list(dict.fromkeys(doc_id for patient in result.patients for doc_id in patient.documents))
    note_audit(request, "patients", index=body.index, query=query, doc_ids=ids, result=len(result.patients))
    understood = answering.understood_response(understanding)
    return to_response(schema.PatientList(understood=understood, patients=patients_response(result), more=result.cut))


def patients_response(result: Patients) -> list[schema.PatientHits]:
    """Convert patients to the API's records."""
    return [
        schema.PatientHits(
            patient=patient.name,
            documents=len(patient.documents),
            counts={**patient.counts},
            first=patient.dates[0],
            last=patient.dates[1],
            sentences=[
                select_fields(
                    schema.PatientSentence,
                    found.hit,
                    date=found.date,
                    start=found.sentence.start,
                    end=found.sentence.end,
                    text=found.sentence.text,
                    assertions=[*found.sentence.assertions],
                    score=found.sentence.score,
                )
                for found in patient.sentences
            ],
        )
        for patient in result.patients
    ]
