"""Hits by patient: on the page, as files, and by the API."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from auscult.client import Client, ServiceError
from page.conftest import Service
from page_service import follow

ASKED = {"q": "gout", "index": "clinic"}


def test_patients_stand_on_a_time_line_without_scripts(browser: Any, service: Service) -> None:
    context = browser.new_context(java_script_enabled=False, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{service.base}/?{urlencode(ASKED)}")
    follow(page.get_by_role("link", name="Patient by patient"))
    assert page.locator(".sums").inner_text() == "3 patients · 7 documents · 8 sentences"
    ann = page.locator(".person", has=page.get_by_role("link", name="ann", exact=True))
    assert ann.locator(".when").all_inner_texts() == ["2019-03-02", "2021-07-14", "2023-01-20"]
    assert ann.locator(".assertion").all_inner_texts() == ["historical", "family", "affirmed", "negated"]
    places = ann.locator("circle").evaluate_all("all => all.map(each => parseFloat(each.getAttribute('cx')))")
    assert places == sorted(places)
    assert len(places) == 3
    carl = page.locator(".person", has=page.get_by_role("link", name="carl", exact=True))
    assert carl.locator(".when").all_inner_texts() == ["2018-02-01", "no date"]
    assert carl.locator("circle").count() == 1
    assert page.locator(".person", has_text="dora").count() == 0
    follow(page.locator(".says a.affirmed"))
    assert page.locator(".sums").inner_text() == "2 patients · 3 documents · 3 sentences"
    assert {*page.locator(".assertion").all_inner_texts()} == {"affirmed"}
    follow(page.get_by_role("link", name="ann", exact=True))
    assert page.locator(".hit .from").all_inner_texts() == ["Ward 3 · 2021-07-14"]
    page.go_back()
    follow(page.locator(".times a").first)
    assert page.locator("#answer").count() == 1
    page.goto(f"{service.base}/patients?q=gout&index=ward")
    assert "No document here names a patient" in page.locator(".nothing").inner_text()
    page.goto(f"{service.base}/?q=gout&index=ward")
    assert page.get_by_role("link", name="Patient by patient").count() == 0
    page.goto(f"{service.base}/patients?q=what+helps%3F&index=clinic&assertion=negated")
    assert "Nothing was recognised" in page.locator(".nothing").inner_text()
    page.goto(f"{service.base}/patients?q=gout&index=clinic&f.patient=zoe")
    follow(page.get_by_role("link", name="Ask without filters"))
    assert page.locator(".person").count() == 3
    context.close()


def test_exports_of_patients_agree_with_the_api(service: Service) -> None:
    with httpx.Client(base_url=service.base) as http:
        lines = [json.loads(line) for line in http.get("/patients.jsonl", params=ASKED).text.splitlines()]
        table = http.get("/patients.csv", params=ASKED).content.decode("utf-8-sig")
        assert http.get("/patients.csv", params={"q": "gout", "index": "ward"}).status_code == 422
    rows = [*csv.DictReader(io.StringIO(table))]
    assert len(lines) == 8
    assert [(row["patient"], row["date"], row["sentence"], row["says"]) for row in rows] == [
        (line["patient"], line["date"], line["sentence"], line["says"]) for line in lines
    ]
    first = next(line for line in lines if line["says"] == "historical")
    assert (first["patient"], first["date"], first["sentence"]) == ("ann", "2019-03-02", "She had gout in 2015.")
    assert all(0 <= line["probability"] <= 1 for line in lines)
    with Client(service.base) as client:
        answer = client.patients("gout", index="clinic")
        assert answer.understood.entity == "gout"
        assert [(patient.patient, sentence.text) for patient in answer.patients for sentence in patient.sentences] == [
            (line["patient"], line["sentence"]) for line in lines
        ]
        ann = next(patient for patient in answer.patients if patient.patient == "ann")
        assert (ann.documents, ann.first, ann.last) == (3, "2019-03-02", "2023-01-20")
        assert ann.counts == {"historical": 1, "family": 1, "affirmed": 1, "negated": 1}
        text = client.document(ann.sentences[0].doc_id, index="clinic").text
        assert text[ann.sentences[0].start : ann.sentences[0].end] == ann.sentences[0].text
        only = client.patients(entity="gout", index="clinic", where={"patient": ["carl"]}, assertions=["affirmed"])
        assert [patient.patient for patient in only.patients] == ["carl"]
        with pytest.raises(ServiceError, match="name patients") as refused:
            client.patients("gout", index="ward")
        assert refused.value.status == 422
