from __future__ import annotations

import base64
import builtins
import io
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from auscult.readers.contract import SourceFile, UnreadableError
from auscult_readers.records.fhir import FhirReader
from auscult_readers.records.xml import XmlReader
from readings import SAMPLES, read, read_sample, sources_of

READER = XmlReader()
MEDQUAD = """<?xml version="1.0" encoding="UTF-8"?>
<Document id="0000010" source="NIDDK" url="http://niddk.example/gout">
<Focus>Gout</Focus>
<FocusAnnotations><Category>Disease</Category><UMLS><CUIs><CUI>C0018099</CUI></CUIs>
<SemanticTypes><SemanticType>T047</SemanticType></SemanticTypes><SemanticGroup>Disorders</SemanticGroup></UMLS>
<Synonyms><Synonym>Podagra</Synonym></Synonyms></FocusAnnotations>
<QAPairs>
<QAPair pid="1"><Question qid="1-1" qtype="information">What is (are) Gout ?</Question>
<Answer>Gout hurts.

   - A lot &amp; often.</Answer></QAPair>
<QAPair pid="2"><Question qid="1-2" qtype="treatment">How to treat it ?</Question><Answer> </Answer></QAPair>
<QAPair pid="3"><Question qid="1-3" qtype="">Is it rare ?</Question><Answer>No.</Answer></QAPair>
</QAPairs></Document>"""


def refused(content: bytes | str) -> UnreadableError:
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(UnreadableError) as raised:
        list(READER.read(SourceFile("x.xml", data)))
    return raised.value


def test_an_article_is_read_without_its_references() -> None:
    (draft,) = read_sample(READER, "article.nxml")
    sections = {section.heading: section.text for section in draft.sections}
    assert sections == {
        "Background": "Gout hurts.",
        "Methods": "We gave 40\u202fpeople colchicine < 2\u00a0mg.",
        "Introduction": "Gout is common in 10^6 people.",
        "Outcomes": "1. pain\n2. swelling",
        "Results": "Table 1\n\nPain by group\n\n"
        "Group: Colchicine | Pain: 3.1\nGroup: Placebo | Pain: 5.6\n\nScale of 0 to 10.",
        "Acknowledgements": "We thank all.",
    }
    assert list(draft.heading_paths) == [("Abstract",), ("Abstract",), (), ("Introduction",), (), ()]
    assert "Smith" not in draft.text
    assert draft.title == "Colchicine in acute gout: a trial"
    assert (draft.source, draft.url) == ("Journal of Joints", "https://pmc.ncbi.nlm.nih.gov/articles/PMC123456/")
    assert draft.metadata == {
        "pmcid": "PMC123456",
        "doi": "10.1000/joints.7",
        "date": "2024-03-05",
        "author": "Ann Lee; Bo Müller",
        "language": "en",
        "type": "research-article",
        "licence": "https://creativecommons.org/licenses/by/4.0/",
        "keywords": "gout; colchicine",
    }


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        ("We gave 40\u202fpeople colchicine < 2\u00a0mg.", ["We gave 40&#x202F;people colchicine &lt; 2&nbsp;mg."]),
        ("in acute gout", ["in ", "acute", " gout"]),
        ("1. pain", ["pain"]),
    ],
)
def test_a_highlight_goes_back_to_the_source(words: str, marked: list[str]) -> None:
    content = (SAMPLES / "article.nxml").read_bytes()
    (draft,) = read(READER, content)
    assert sources_of(draft, words, content) == marked


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-8-sig"])
def test_offsets_count_characters_in_any_encoding(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    body = "<x><p>Müller é &#233;\r\n<![CDATA[<b> & &amp;]]> zu Köln</p></x>"
    content = f'<?xml version="1.0" encoding="{declared}"?>\r\n{body}'.encode(encoding)
    (draft,) = read(READER, content)
    assert draft.text == "Müller é é <b> & &amp; zu Köln"
    assert sources_of(draft, "é é", content) == ["é &#233;"]
    assert sources_of(draft, "& &amp; zu", content) == ["& &amp;", " zu"]


def test_articles_of_a_set_have_keys() -> None:
    article = (
        "<article><front><article-meta><article-id pub-id-type='pmc'>{0}</article-id></article-meta></front>"
        "<body><p>Text {0}.</p></body></article>"
    )
    drafts = read(READER, f"<OAI><record>{article.format(1)}</record>{article.format(2)}</OAI>")
    assert [(draft.key, draft.text) for draft in drafts] == [("PMC1", "Text 1."), ("PMC2", "Text 2.")]


ARTICLE = (
    "<article xmlns:mml='http://www.w3.org/1998/Math/MathML'><front><article-meta><title-group><article-title>Gout"
    "</article-title></title-group></article-meta></front><body><sec><title>Dose</title><p>{}</p></sec></body>{}"
    "</article>"
)
CREATININE = (
    r"\documentclass[12pt]{minimal}\usepackage{amsmath}\begin{document}$$\frac{(140-age)\times w}{72\times c}$$"
    r"\end{document}"
)


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        (r"<inline-formula><tex-math>$\geq 5$</tex-math></inline-formula>", "≥ 5"),
        (r"<tex-math>\documentclass{minimal}\begin{document}$10^{-9}$\end{document}</tex-math>", "10^−9"),
        (rf"<disp-formula><tex-math><![CDATA[{CREATININE}]]></tex-math></disp-formula>", "((140−age)×w)/(72×c)"),
        (r"<tex-math>2\frac{1}{2}~\mu g</tex-math>", "2 1/2 μg"),
        (r"<tex-math>x \not= 5, \text{dose} = 0.5\,\text{mg}</tex-math>", "x ≠ 5,dose = 0.5 mg"),
        ("<tex-math>$p=5$</tex-math>", "p = 5"),
        (r"<tex-math>\unknown{5} mg</tex-math>", r"\unknown{5} mg"),
        (r"<tex-math>\frac{5 mg</tex-math>", r"\frac{5 mg"),
        ("<mml:math><mml:mfrac><mml:mn>24</mml:mn><mml:mn>10</mml:mn></mml:mfrac></mml:math>", "24/10"),
        (r"<alternatives><tex-math>\geq 5</tex-math><mml:math><mml:mo>≥</mml:mo><mml:mn>5</mml:mn></mml:math>"
         "</alternatives>", "≥5"),
        (r"<alternatives><graphic/><tex-math>\sqrt{a+b}</tex-math></alternatives>", "√(a+b)"),
        ("<mml:math><mml:semantics><mml:mn>5</mml:mn><mml:annotation>5.0</mml:annotation></mml:semantics></mml:math>",
         "5"),
    ],
)  # fmt: skip
def test_equations_of_articles_keep_fractions_and_signs(equation: str, text: str) -> None:
    (draft,) = read(READER, ARTICLE.format(f"Stop {equation}", ""))
    assert " ".join(draft.sections[0].text.split()) == f"Stop {text}"
    assert not draft.remarks


def test_highlights_of_tex_equations_map_to_source() -> None:
    content = ARTICLE.format(r"Stop at <tex-math>$\geq 5$</tex-math> mmol/L", "")
    (draft,) = read(READER, content)
    assert sources_of(draft, "≥ 5 mmol/L", content.encode()) == [r"\geq 5$", " mmol/L"]


def test_equations_that_are_only_pictures_are_counted() -> None:
    pictures = "<inline-formula><inline-graphic/></inline-formula> and <disp-formula><graphic/></disp-formula>"
    (draft,) = read(READER, ARTICLE.format(f"Stop at {pictures}", ""))
    assert draft.remarks == ("formulas that are only pictures: 2",)


@pytest.mark.parametrize("tag", ["sub-article", "response"])
def test_articles_inside_an_article_are_its_sections(tag: str) -> None:
    titled = "<front-stub><title-group><article-title>Reply</article-title></title-group></front-stub>"
    inner = (
        f"<{tag}>{titled}<body><p>It was 0.5 mg, not 50 mg.</p><sec><title>Why</title><p>A slip.</p></sec></body>"
        f"<{tag} article-type='correction'><front-stub/><body><p>Once more: 0.5 mg.</p></body></{tag}></{tag}>"
        f"<{tag}><front><article-meta><abstract><p>Sorry.</p></abstract></article-meta></front></{tag}>"
    )
    (draft,) = read(READER, ARTICLE.format("We gave 50 mg.", inner))
    named = "Sub article" if tag == "sub-article" else "Response"
    assert [
        (*path, each.heading, each.text) for path, each in zip(draft.heading_paths, draft.sections, strict=True)
    ] == [
        ("Dose", "We gave 50 mg."),
        ("Reply", "It was 0.5 mg, not 50 mg."),
        ("Reply", "Why", "A slip."),
        ("Reply", "Correction", "Once more: 0.5 mg."),
        (named, "Abstract", "Sorry."),
    ]


def test_abstracts_in_other_languages_are_read() -> None:
    front = "</title-group><trans-abstract><title>Résumé</title><p>La goutte.</p></trans-abstract>"
    (draft,) = read(READER, ARTICLE.format("Gout.", "").replace("</title-group>", front))
    assert [(each.heading, each.text) for each in draft.sections] == [("Résumé", "La goutte."), ("Dose", "Gout.")]


def test_medquads_questions_are_headings_of_their_answers() -> None:
    (draft,) = read(READER, MEDQUAD)
    assert [(section.heading, section.text) for section in draft.sections] == [
        ("information", "Gout hurts.\n\n   - A lot & often."),
        ("Is it rare ?", "No."),
    ]
    assert "What is (are) Gout ?" in draft.text
    assert "How to treat" not in draft.text
    assert (draft.title, draft.source, draft.url) == ("Gout", "NIDDK", "http://niddk.example/gout")
    assert draft.entity_ids == ("UMLS:C0018099",)
    assert draft.metadata["synonyms"] == "Podagra"
    assert sources_of(draft, "lot & often", MEDQUAD) == ["lot &amp; often"]
    assert (
        refused(MEDQUAD.replace("Gout hurts.", "").replace("- A lot &amp; often.", "").replace("No.", "")).kind
        == "empty file"
    )


def test_a_clinical_document_is_read_by_its_narrative() -> None:
    (draft,) = read_sample(READER, "discharge.xml")
    assert [(section.heading, section.text) for section in draft.sections] == [
        ("DISCHARGE DIAGNOSIS", "Acute gout of the left knee"),
        ("Comorbidity", "1. Hypertension\n2. CKD 3"),
        ("Discharge medications", "Medication: Colchicine 500µg | Dosage: 1 tablet twice a day"),
    ]
    assert list(draft.heading_paths) == [(), ("DISCHARGE DIAGNOSIS",), ()]
    assert (draft.title, draft.source) == ("Discharge Summary", "Community Hospital")
    assert draft.metadata == {
        "patient": "998991",
        "date": "2024-05-02",
        "author": "Henry Seven",
        "names": "Everywoman Canary\nHenry Seven",
        "language": "en-GB",
        "type": "Discharge summary",
        "document": "DOC-7",
        "sections": "LOINC:11535-2; LOINC:10183-2",
    }
    content = (SAMPLES / "discharge.xml").read_bytes()
    assert sources_of(draft, "Colchicine 500µg", content) == ["Colchicine 500&#181;g"]


def test_patient_names_stay_out_of_text_and_title() -> None:
    (draft,) = read_sample(READER, "discharge.xml")
    assert "Canary" not in draft.text
    assert "Canary" not in draft.title
    assert "19500101" not in repr(draft)
    assert "1950" not in repr(draft)


def test_attached_bodies_of_clinical_documents_are_read() -> None:
    body = (
        "<ClinicalDocument xmlns='urn:hl7-org:v3'><title>Note</title><component><nonXMLBody>"
        "<text mediaType='{}' representation='B64'>{}</text></nonXMLBody></component></ClinicalDocument>"
    )
    page = b"<h2>Plan</h2><p>Rest &amp; fluids."
    (draft,) = read(READER, body.format("text/html", base64.b64encode(page).decode()))
    assert (draft.title, draft.content, draft.media_type) == ("Note", page, "text/html")
    assert draft.text == "Plan\n\nRest & fluids."
    assert refused(body.format("application/postscript", "eA==")).kind == "attachment of another type"
    assert refused(body.format("text/plain", "!")).kind == "broken attachment"
    elsewhere = body.replace(">{}<", "><reference value='http://x.example/note.txt'/><")
    assert "not fetched" in str(refused(elsewhere.format("text/plain")))


def test_any_other_xml_is_read_by_its_elements() -> None:
    (draft,) = read(
        READER,
        "<book><title>Joints</title><part><head>Gout</head><p>It <i>really</i> hurts.</p><p>Yes.</p></part></book>",
    )
    assert draft.text == "Joints\n\nGout\n\nIt really hurts.\n\nYes."
    assert draft.title == "Joints"
    assert [(section.heading, section.text) for section in draft.sections] == [("Gout", "It really hurts.\n\nYes.")]


LAUGHS = "<!DOCTYPE x [" + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30)) + "]><x>&l29;</x>"


@pytest.mark.parametrize(
    "content",
    [
        LAUGHS,
        "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>",
        "<!DOCTYPE x [<!ENTITY % e SYSTEM 'http://x.example/e.dtd'>%e;]><x>y</x>",
        "<!DOCTYPE x [<!ENTITY e 'y'>]><x>&e;</x>",
        "<!DOCTYPE x PUBLIC '-//X' 'http://x.example/x.dtd' [<!ENTITY e 'y'>]><x>&e;</x>",
    ],
)
def test_declared_entities_are_refused(content: str) -> None:
    error = refused(content)
    assert error.kind == "declared entities"
    assert "passwd" not in str(error)


def test_files_and_urls_named_inside_are_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    content = (
        "<?xml-stylesheet href='http://x.example/x.xsl'?><!DOCTYPE x SYSTEM 'file:///etc/passwd'>"
        "<x xmlns:xi='http://www.w3.org/2001/XInclude'>y &undefined; <xi:include href='file:///etc/passwd'/></x>"
    )
    read(READER, content)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was opened")

    for holder, name in ((builtins, "open"), (io, "open"), (os, "open"), (Path, "open"), (socket, "socket")):
        monkeypatch.setattr(holder, name, refuse)
    (draft,) = READER.read(SourceFile("x.xml", content.encode()))
    assert draft.text == "y &undefined;"
    with pytest.raises(UnreadableError):
        list(READER.read(SourceFile("x.xml", LAUGHS.encode())))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", "empty file"),
        ("<x/>", "empty file"),
        ("<x>…</x>", "empty file"),
        ("<article><front/></article>", "empty file"),
        ("<ClinicalDocument/>", "empty file"),
        ("<x>", "broken XML"),
        ("<x>a</y>", "broken XML"),
        ("x", "broken XML"),
        ("<x>a & b</x>", "broken XML"),
        (b"<x>\x00</x>", "broken XML"),
        ("<x/><y/>", "broken XML"),
        ("<Bundle xmlns='http://hl7.org/fhir'><id value='x'/></Bundle>", "no text"),
    ],
)
def test_unreadable_content_is_refused_with_its_kind(content: str | bytes, kind: str) -> None:
    assert refused(content).kind == kind


def test_xml_errors_give_the_line_and_no_content() -> None:
    error = refused("<x>\n<p>Canary</x>")
    assert "line 2" in str(error)
    assert "Canary" not in str(error)


@pytest.mark.parametrize(
    ("name", "head", "told"),
    [
        ("a", b"<?xml version='1.0'?><x>", True),
        ("a.xml", b" <x>", True),
        ("a.nxml", "<?xml?><x>".encode("utf-16"), True),
        ("a.xml", b"x", False),
        ("a", b"<x>", False),
        ("a.xml", b"<?xml version='1.0'?><!-- x --><!DOCTYPE html><html>", False),
        ("a.xml", b"<?xml version='1.0'?><x><![CDATA[<html>]]>", True),
    ],
)
def test_xml_is_recognised_by_its_beginning(name: str, head: bytes, told: bool) -> None:
    assert READER.recognises(SourceFile(name, head)) is told


def test_fhir_reads_equally_from_xml_and_json() -> None:
    div = '<div xmlns="http://www.w3.org/1999/xhtml"><p>A &amp; b &lt; 5<br/>mg</p></div>'
    resource = {
        "resourceType": "Composition", "id": "c", "title": "Leaflet", "status": "final",
        "subject": {"reference": "Patient/1"},
        "section": [
            {"title": "Use", "text": {"div": div}},
            {"title": "Problems", "entry": [{"reference": "Condition/g"}, {"reference": "Observation/o"}]},
        ],
    }  # fmt: skip
    as_xml = (
        '<f:Bundle xmlns:f="http://hl7.org/fhir"><f:entry><f:resource><f:Composition><f:id value="c"/>'
        '<f:status value="final"/><f:subject><f:reference value="Patient/1"/></f:subject><f:title value="Leaflet"/>'
        f'<f:section><f:title value="Use"/><f:text>{div}'
        '</f:text></f:section><f:section><f:title value="Problems"/><f:entry><f:reference value="Condition/g"/>'
        '</f:entry><f:entry><f:reference value="Observation/o"/></f:entry></f:section></f:Composition></f:resource>'
        '</f:entry><f:entry><f:resource><f:Condition><f:id value="g"/><f:code><f:text value="Gout"/></f:code>'
        '</f:Condition></f:resource></f:entry><f:entry><f:resource><f:Observation><f:id value="o"/><f:code><f:text '
        'value="Urate"/></f:code><f:valueQuantity><f:value value="9.10"/><f:unit value="mg/dL"/></f:valueQuantity>'
        '</f:Observation></f:resource></f:entry></f:Bundle>'
    )  # fmt: skip
    others = [
        {"resourceType": "Condition", "id": "g", "code": {"text": "Gout"}},
        {
            "resourceType": "Observation",
            "id": "o",
            "code": {"text": "Urate"},
            "valueQuantity": {"value": 9.1, "unit": "mg/dL"},
        },
    ]
    entries = [{"resource": entry} for entry in (resource, *others)]
    of_json = read(FhirReader(), json.dumps({"resourceType": "Bundle", "entry": entries}))
    of_xml = read(XmlReader(), as_xml)
    assert [draft.text.replace("9.10", "9.1") for draft in of_xml] == [draft.text for draft in of_json]
    assert [dict(draft.metadata) for draft in of_xml] == [dict(draft.metadata) for draft in of_json]
    assert of_xml[0].text.endswith("Gout\n\nUrate: 9.10 mg/dL")


def test_deep_fhir_as_xml_is_refused() -> None:
    with pytest.raises(UnreadableError) as raised:
        list(
            XmlReader().read(
                SourceFile("x.xml", b'<A xmlns="http://hl7.org/fhir">' + b"<b>" * 5000 + b"</b>" * 5000 + b"</A>")
            )
        )
    assert raised.value.kind == "deep nesting"


CDA = (
    "<ClinicalDocument xmlns='urn:hl7-org:v3'><title>Letter</title><component><structuredBody><component><section>"
    "<title>{}</title>{}</section></component></structuredBody></component></ClinicalDocument>"
)


@pytest.mark.parametrize(
    ("narrative", "text"),
    [
        ("<paragraph><content styleCode='Bold Strikethrough'>Warfarin</content> none</paragraph>", "none"),
        ("<list><item revised='delete'>Warfarin</item><item>Apixaban</item></list>", "- Apixaban"),
        ("<paragraph>150 x 10<sup>9</sup>/L, 1.7 m<sup>2</sup></paragraph>", "150 x 10^9/L, 1.7 m2"),
        ("<table><thead><tr><th>Drug</th><th>Dose</th></tr></thead><tbody><tr styleCode='Strikethrough'>"
         "<td>Warfarin</td><td>5</td></tr><tr><td>Apixaban</td><td><list><item>5 mg</item><item>at night</item></list>"
         "</td></tr></tbody></table>",
         "Drug: Apixaban | Dose: 5 mg; at night"),
    ],
)  # fmt: skip
def test_deleted_words_in_narratives_are_omitted_and_counted(narrative: str, text: str) -> None:
    (draft,) = read(READER, CDA.format("Medication", f"<text>{narrative}</text>"))
    assert [section.text for section in draft.sections] == [text]
    assert bool(draft.remarks) == ("Warfarin" in narrative)


def test_a_section_without_narrative_shows_its_entries() -> None:
    entry = "<text/><entry><act><text>Rash after <b>penicillin</b></text><code><originalText/></code></act></entry>"
    (draft,) = read(READER, CDA.format("Allergies", entry))
    assert [(section.heading, section.text) for section in draft.sections] == [("Allergies", "Rash after penicillin")]
