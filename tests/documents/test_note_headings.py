"""Headings of clinical notes: template styles, offsets, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents import build_document, check_document
from auscult.documents.note_headings import find_sections, note_sections
from auscult.documents.wrapping import unwrapped


def found(text: str) -> list[tuple[str, str]]:
    return [(section.heading, text[section.start : section.end]) for section in find_sections(text)]


STYLES = [
    ("# Chief Complaint\nPain.\n\n# Plan\nRest.", [("Chief Complaint", "Pain."), ("Plan", "Rest.")]),
    ("CHIEF COMPLAINT: Chest pain.\n\nPLAN: Rest.", [("CHIEF COMPLAINT", "Chest pain."), ("PLAN", "Rest.")]),
    ("Past Medical History:\n1. Gout\nPlan:\nRest.", [("Past Medical History", "1. Gout"), ("Plan", "Rest.")]),
    ("HISTORY\n\nWell.\n\nPHYSICAL EXAM\n\nFine.", [("HISTORY", "Well."), ("PHYSICAL EXAM", "Fine.")]),
    ("Hospital Course\nWell.\n\nDischarge Diet\nFree.", [("Hospital Course", "Well."), ("Discharge Diet", "Free.")]),
    ("1. PMH: No.\n(2) PLAN: Rest.\nIII. LABS: Fine.", [("PMH", "No."), ("PLAN", "Rest."), ("LABS", "Fine.")]),
    ("ALLERGIES: Penicillin. MEDICATIONS: Aspirin.", [("ALLERGIES", "Penicillin."), ("MEDICATIONS", "Aspirin.")]),
    ("ALLERGIES: NKDA MEDICATIONS: Aspirin.", [("ALLERGIES", "NKDA"), ("MEDICATIONS", "Aspirin.")]),
    ("Well. Family History: none.", [("", "Well."), ("Family History", "none.")]),
    ("PMH: Asthma\nDHx: Nil\nFH - none", [("PMH", "Asthma"), ("DHx", "Nil"), ("FH", "none")]),
    ("Allergien:\nPenicillin\n\nMedikation:\nASS", [("Allergien", "Penicillin"), ("Medikation", "ASS")]),
    ("Akute Anamnese: Husten.\nRöntgenbefund: frei.", [("Akute Anamnese", "Husten."), ("Röntgenbefund", "frei.")]),
    ("Antécédents :\nAsthme\nConduite à tenir:\nRepos", [("Antécédents", "Asthme"), ("Conduite à tenir", "Repos")]),
    ("Motivo de consulta: Tos.\nTratamiento: Reposo.", [("Motivo de consulta", "Tos."), ("Tratamiento", "Reposo.")]),
    ("ENDOSCOPE USED: Long one.\r\nPLAN:\r\n", [("ENDOSCOPE USED", "Long one."), ("PLAN", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sections"), STYLES)
def test_template_styles(text: str, sections: list[tuple[str, str]]) -> None:
    assert found(text) == sections


@pytest.mark.parametrize(
    "text",
    [
        "She reports the following: pain.",
        "The plan: rest.",
        "Seen at 10:30 in clinic.",
        "PHI is [**Name**] ___: [REDACTED]",
        "HEENT: Normal.\nLungs: Clear.\nBP: 120/80",
        "HDL: 40\nIII, IV, VI: intact",
        "He was told of the HISTORY and left.",
        "Plan was discussed.\nRest.",
        "",
        " \n\t\n",
        ":\n::\n1.\n",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert [heading for heading, _ in found(text) if heading] == []


def test_parts_of_an_examination_stay_in_it() -> None:
    text = "PHYSICAL EXAMINATION:\nHEENT: Normal. NECK: Supple.\nLUNGS: Clear.\nPLAN: Rest."
    assert [heading for heading, _ in found(text)] == ["PHYSICAL EXAMINATION", "PLAN"]


def test_short_answer_below_a_heading_is_no_heading() -> None:
    assert found("ANESTHESIA\n\nGENERAL ENDOTRACHEAL\n\nPLAN\n\nRest.") == [
        ("ANESTHESIA", "GENERAL ENDOTRACHEAL"),
        ("PLAN", "Rest."),
    ]


def test_a_heading_without_text_is_its_own_text() -> None:
    text = "NO KNOWN DRUG ALLERGIES\n\nPLAN:\nRest.\n\nFOLLOW-UP:\n-\n\nDISCHARGE DIAGNOSIS:"
    sections = [
        ("NO KNOWN DRUG ALLERGIES", "NO KNOWN DRUG ALLERGIES"),
        ("PLAN", "Rest."),
        ("FOLLOW-UP", "FOLLOW-UP:\n-"),
        ("DISCHARGE DIAGNOSIS", "DISCHARGE DIAGNOSIS"),
    ]
    found = note_sections(text)
    assert [(section.heading, section.text) for section in found] == sections
    assert all(text[each.start : (each.start or 0) + len(each.text)] == each.text for each in found)


def test_a_judged_collection_leaves_headings_without_text_out() -> None:
    found = note_sections("NO KNOWN DRUG ALLERGIES\n\nPLAN:\nRest.", bare_headings=False)
    assert [section.text for section in found] == ["", "Rest."]


def test_placeholders_survive() -> None:
    body = "Seen by Dr. [**Last Name (STitle) 12**] on [**2151-7-16**], ___ and [REDACTED]."
    assert found(f"HISTORY: {body}\nPLAN: Rest.") == [("HISTORY", body), ("PLAN", "Rest.")]


def found_in(language: str, text: str) -> list[tuple[str, str]]:
    return [(section.heading, text[section.start : section.end]) for section in find_sections(text, language=language)]


OTHER_LANGUAGES = [
    ("fr", "Motif d'hospitalisation : Toux.\nAu total : pneumopathie.\nSuivi - un mois",
     [("Motif d'hospitalisation", "Toux."), ("Au total", "pneumopathie."), ("Suivi", "un mois")]),
    ("fr", "Lisez.\n4. QUELS SONT LES EFFETS INDESIRABLES EVENTUELS ?\nToux.\n5. COMMENT CONSERVER DOLIREX ?\nAu sec.",
     [("", "Lisez."), ("QUELS SONT LES EFFETS INDESIRABLES EVENTUELS ?", "Toux."),
      ("COMMENT CONSERVER DOLIREX ?", "Au sec.")]),
    ("fr", "2. AVANT DE PRENDRE CARDILOL ? Lisez ceci.", [("AVANT DE PRENDRE CARDILOL ?", "Lisez ceci.")]),
    ("es", "Juicio clínico: Gota.\nExploración cutánea: pápulas.\n¿Cuáles son los posibles efectos adversos?\nTos.",
     [("Juicio clínico", "Gota."), ("Exploración cutánea", "pápulas."),
      ("¿Cuáles son los posibles efectos adversos?", "Tos.")]),
    ("de", "Diagnosen:\n- Gicht\nEntlassungsmedikation:\nColchicin\nProcedere: Kontrolle. Nachsorge: Hausarzt.",
     [("Diagnosen", "- Gicht"), ("Entlassungsmedikation", "Colchicin"), ("Procedere", "Kontrolle."),
      ("Nachsorge", "Hausarzt.")]),
    ("de", "Hinweis.\nWelche Nebenwirkungen sind möglich?\nHusten.\nWie ist Pantaloc aufzubewahren?\nTrocken.",
     [("", "Hinweis."), ("Welche Nebenwirkungen sind möglich?", "Husten."),
      ("Wie ist Pantaloc aufzubewahren?", "Trocken.")]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "sections"), OTHER_LANGUAGES)
def test_headings_of_other_languages(language: str, text: str, sections: list[tuple[str, str]]) -> None:
    assert found_in(language, text) == sections


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "Le traitement comporte entre autres : du repos."),
        ("fr", "Il prend un\nTraitement.\nPuis rien."),
        ("es", "El paciente pregunta lo siguiente: cuándo se va."),
        ("es", "No procede\nApósito: limpio"),
        ("de", "Die Untersuchung am Montag ergab: nichts.\nRR: 130/80"),
        ("de", "Der Sohn fragt nach folgendem: Reha."),
        ("", "Posologie :\nUn comprimé."),
        ("en", "Welche Nebenwirkungen sind möglich?\nHusten."),
        ("it", "Quels sont les effets indésirables ?\nToux."),
    ],
)
def test_what_is_no_heading_elsewhere(language: str, text: str) -> None:
    assert [heading for heading, _ in found_in(language, text) if heading] == []


def test_a_table_of_contents_has_no_sections() -> None:
    headings = "3. Cómo tomar Zelipran\n", "4. Posibles efectos adversos\n"
    text = f"{headings[0]}{headings[1]}{headings[0]}Uno.\n{headings[1]}Tos."
    assert found_in("es", text)[1:] == [("Cómo tomar Zelipran", "Uno."), ("Posibles efectos adversos", "Tos.")]


PIECES = st.sampled_from(
    ["PLAN:", "Plan:", "HISTORY", "1. LABS: ", "\n", "\n\n", "\r\n", " ", "fine.", "[**Name**]", "BP: 1", "FH - ", "é"]
)  # fmt: skip
NOTES = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))


OTHER_PIECES = st.sampled_from(
    ["Motif : ", "4. COMMENT CONSERVER X ?", "Ce que contient X · ", "1.2. Composition", "\n", " ", "fin.", "Suivi - "]
)  # fmt: skip


@given(NOTES | st.lists(PIECES | OTHER_PIECES, max_size=40).map("".join), st.sampled_from(["en", "fr", "es", "de"]))
def test_offsets_slice_back_and_nothing_is_lost(text: str, language: str) -> None:
    at = 0
    for number, section in enumerate(find_sections(text, language=language)):
        assert at <= section.heading_start <= section.start <= section.end <= len(text)
        assert section.heading or number == 0
        stop = section.heading_start + len(section.heading)
        assert text[section.heading_start : stop] == section.heading
        assert text[section.start : section.end] == text[section.start : section.end].strip()
        # Between sections stand numbers, marks and white space only.
        between = text[at : section.heading_start] + (text[stop : section.start] if section.heading else "")
        marks = (part.replace(".", "").strip("()-\u2013:") for part in between.split())
        assert all(not mark or mark.isalnum() for mark in marks)
        at = section.end
    assert not text[at:].strip()


@given(NOTES)
def test_a_document_of_a_note_keeps_its_text(text: str) -> None:
    document = build_document(doc_id="n", title="", sections=note_sections(text), text=text)
    assert document.text == text
    assert [document.slice(p) for p in document.passages] == [section.text for section in note_sections(text)]
    check_document(document)


@given(NOTES)
def test_unwrapping_changes_line_ends_only(text: str) -> None:
    other = unwrapped(text)
    assert len(other) == len(text)
    assert all(a == b or (a in "\r\n" and b == " ") for a, b in zip(text, other, strict=True))


def test_a_wrapped_sentence_is_one() -> None:
    lines = [
        "Hospital Course:",
        "The patient was admitted to the intensive care unit with pneumonia and was",
        "treated with antibiotics for seven days, after which the fever went down and",
        "all cultures stayed negative. She was then moved to the medical ward and was",
        "sent home.",
        "Allergies: None.",
    ]
    text = "\n".join(lines)
    document = build_document(doc_id="n", title="", sections=note_sections(text), text=text)
    assert [document.slice(s).replace("\n", " ") for s in document.sentences] == [
        " ".join(lines[1:4]).split(" She")[0],
        "She was then moved to the medical ward and was sent home.",
        "None.",
    ]


@pytest.mark.parametrize("separator", ["\n", " "])
def test_a_note_of_two_megabytes(separator: str) -> None:
    once = f"PLAN: Take 5 mg p.o. daily.{separator}It helps a: little.{separator}"
    text = once * (2_000_000 // len(once))
    sections = find_sections(text)
    assert len(sections) == 2_000_000 // len(once)
    assert text[sections[-1].start :].strip().endswith("little.")


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\f", "\u2028", "\x85"])
def test_lines_end_as_in_any_system(end: str) -> None:
    text = end.join(("HOSPITAL COURSE: Rest.", "", "MEDICATIONS:", "Aspirin.", "", "PLAN", "Come again."))
    assert [(each.heading, text[each.start : each.end]) for each in find_sections(text)] == [
        ("HOSPITAL COURSE", "Rest."),
        ("MEDICATIONS", "Aspirin."),
        ("PLAN", "Come again."),
    ]
