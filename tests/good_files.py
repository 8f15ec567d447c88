"""A small good file of each format that is read: what the fuzzing of readers begins with."""

from __future__ import annotations

import io
import json
import zipfile

from small_office_files import (
    RTF,
    book,
    mail,
    old_workbook,
    open_sheet,
    open_slides,
    open_text,
    outlook,
    slides,
    web_archive,
    workbook,
)
from small_pdfs import GOUT, Drawn, leaflet
from small_word_files import saved, word_leaflet

HTML = f"""<!DOCTYPE html><html lang="en"><head><title>Gout - Health pages</title>
<meta name="description" content="About gout"><script>var a = 1;</script></head><body>
<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Topics</a></li></ul></nav>
<main><h1>Gout</h1><p>{GOUT}</p><h2>Symptoms</h2><ul><li>hot joint</li><li>pain &amp; fever</li></ul>
<h2>Treatment</h2><table><tr><th>Medicine</th><th>Dose</th></tr><tr><td>Allopurinol</td><td>100&nbsp;mg</td></tr></table>
<p>See <a href="https://health.test/x">more</a>.</p></main><footer>Contact us</footer></body></html>"""
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<Document id="1" source="GARD" url="https://health.test/gout"><Focus>Gout</Focus><FocusAnnotations><UMLS><CUIs>
<CUI>C0018099</CUI></CUIs></UMLS></FocusAnnotations><QAPairs><QAPair pid="1"><Question qid="1-1" qtype="information">
What is gout?</Question><Answer>{GOUT}</Answer></QAPair></QAPairs></Document>"""
JATS = f"""<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96)//EN" "JATS-archivearticle1.dtd">
<article><front><article-meta><title-group><article-title>Gout</article-title></title-group><pub-date><year>2020</year>
</pub-date><abstract><title>Background</title><p>{GOUT}</p></abstract></article-meta></front><body><sec><title>Methods
</title><p>We counted.</p><sec><title>Patients</title><p>Ten.</p></sec></sec></body></article>"""
CDA = f"""<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"><title>Discharge letter</title>
<effectiveTime value="20240305"/><recordTarget><patientRole><id extension="7"/></patientRole></recordTarget><component>
<structuredBody><component><section><title>History</title><text><paragraph>{GOUT}</paragraph><list><item>one</item>
<item>two</item></list></text></section></component></structuredBody></component></ClinicalDocument>"""
MARKDOWN = f"""---
title: Gout
date: 2024-01-02
---
# Gout

{GOUT}

## Treatment

- rest
- *tablets* and [more](https://health.test)

| Medicine | Dose |
|---|---|
| Allopurinol | 100 mg |

```
code
```
"""
NOTE = f"HISTORY OF PRESENT ILLNESS:\n{GOUT}\n\nPLAN:\n1. Rest.\n2. Colchicine 500 mcg.\n"
CSV = f'id,title,text\n1,Gout,"{GOUT}"\n2,Asthma,"Airways swell, and narrow."\n'
_ROWS = [
    {"id": str(number), "title": "Gout", "sections": [{"heading": "Overview", "text": GOUT}]} for number in range(3)
]
JSONL = "".join(json.dumps(row) + "\n" for row in _ROWS)
_NARRATIVE = f'<div xmlns="http://www.w3.org/1999/xhtml"><p>{GOUT}</p></div>'
_RESOURCES = [
    {
        "resourceType": "Composition", "id": "c1", "status": "final", "title": "Letter", "date": "2024-03-05",
        "type": {"text": "Letter"}, "author": [{"display": "A"}], "subject": {"reference": "Patient/7"},
        "section": [{"title": "History", "text": {"status": "generated", "div": _NARRATIVE}}],
    },
    {
        "resourceType": "DocumentReference", "id": "d1", "status": "current",
        "content": [{"attachment": {"contentType": "text/plain", "data": "R291dCBpcyBhcnRocml0aXMu"}}],
    },
    {
        "resourceType": "DiagnosticReport", "id": "r1", "status": "final", "code": {"text": "Urate"},
        "conclusion": "Uric acid is high.", "text": {"status": "generated", "div": _NARRATIVE},
    },
]  # fmt: skip
HL7 = "".join(
    f"{segment}\r"
    for segment in (
        r"MSH|^~\&|LAB|H|EHR|H|20240302||ORU^R01|1|P|2.5", "PID|1||77||DOE^JANE", "OBR|1|||1^Urate|||202403",
        f"OBX|1|TX|2^History||{GOUT}||||||F", r"OBX|2|FT|2^History||PLAN: Rest \T\ drink.\.br\Come again.||||||F",
        "OBX|3|NM|3^Urate||9.1|mg/dL|2-7|H", "NTE|1||Measured twice.",
    )
)  # fmt: skip
FHIR_XML = """<Composition xmlns="http://hl7.org/fhir"><id value="c"/><title value="Gout"/><section><title value="Use"/>
<text><div xmlns="http://www.w3.org/1999/xhtml"><p>Take one &amp; rest.</p></div></text></section></Composition>"""
FHIR = json.dumps({"resourceType": "Bundle", "type": "document", "entry": [{"resource": each} for each in _RESOURCES]})
NDJSON = "".join(json.dumps(each) + "\n" for each in _RESOURCES)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def scanned_pdf() -> bytes:
    """A page of a picture alone."""
    drawn = Drawn()
    drawn.scan()
    return drawn.content()


def good_files() -> dict[str, bytes]:
    """Name to content; small, and the same each time."""
    texts = {
        "page.html": HTML, "medquad.xml": XML, "article.xml": JATS, "letter.xml": CDA, "leaflet.md": MARKDOWN,
        "note.txt": NOTE, "table.csv": CSV, "rows.jsonl": JSONL, "bundle.json": FHIR, "resources.ndjson": NDJSON,
        "report.hl7": HL7, "leaflet.xml": FHIR_XML,
    }  # fmt: skip
    files = {name: text.encode() for name, text in texts.items()}
    files["leaflet.pdf"] = leaflet(2).content()
    files["plain.pdf"] = leaflet(1, compressed=False).content()
    files["leaflet.docx"] = saved(word_leaflet())
    files |= {
        "letter.rtf": RTF, "lecture.pptx": slides(), "values.xlsx": workbook(), "medicines.xls": old_workbook(),
        "leaflet.odt": open_text(), "medicines.ods": open_sheet(), "lecture.odp": open_slides(), "joints.epub": book(),
        "letter.eml": mail(("note.txt", NOTE.encode())), "page.mhtml": web_archive(), "letter.msg": outlook(),
    }  # fmt: skip
    files["notes.zip"] = zipped(
        {"a/note.txt": NOTE.encode(), "page.html": HTML.encode(), "b.pdf": leaflet(1).content()}
    )
    return files
