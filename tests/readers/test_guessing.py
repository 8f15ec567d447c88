"""Notes that declare no encoding: the one they are read in, and the remark about it."""

from __future__ import annotations

import pytest

from auscult.readers.contract import SourceFile
from auscult.readers.decoding import decode_text
from auscult.readers.guessing import guess_encoding
from auscult.readers.notes import NoteReader
from auscult.readers.registry import Registry

NOTES = {
    "Аллергии:\nРыба и орехи. Одышка при ходьбе. Давление 120 на 80.": ("cp1251", "koi8-r", "cp866", "iso8859-5"),
    "Warfarin 5 mg: отменить, INR 4.8": ("cp1251", "koi8-r", "cp866"),
    "Алергії немає. Скарги на біль у грудях.": ("cp1251",),
    "Αλλεργία στην πενικιλίνη. Πόνος στο στήθος, δύσπνοια.": ("cp1253", "iso8859-7"),
    "אין אלרגיות ידועות. כאבים בחזה, קוצר נשימה.": ("cp1255",),
    "لا توجد حساسية. ألم في الصدر وضيق في التنفس.": ("cp1256",),
    "ไม่มีประวัติแพ้ยา ปวดหน้าอก หายใจลำบาก": ("cp874",),
    "青霉素过敏,禁用。": ("gb18030",),
    "過敏史:盤尼西林過敏。病人主訴胸痛。": ("big5",),
    "ペニシリン禁忌。ワルファリン中止、INR 4.8": ("shift_jis", "euc-jp"),
    "알레르기: 페니실린. 흉통과 호흡곤란이 있음.": ("euc-kr",),
    "Uczulenie na penicylinę. Ból w klatce piersiowej, duszność.": ("cp1250", "iso8859-2"),
    "Alergie: penicilin. Bolest na hrudi, dušnost. Teplota zvýšená.": ("cp1250", "iso8859-2"),
    "Fejfájás, szédülés. Nincs ismert gyógyszerallergia. Erős hányinger.": ("cp1250", "iso8859-2"),
    "Penisilin alerjisi var. Göğüs ağrısı, nefes darlığı; ateş yüksek.": ("cp1254",),
    "Alergijų nėra. Skundžiasi krūtinės skausmu, dusuliu.": ("cp1257",),
    "75 µg täglich": ("cp850",),
    "Größe 172 cm. Temp. 38,2 °C, Übelkeit. Gib 2½ ml.": ("cp850",),
    "Allergie à la pénicilline. Fréquence cardiaque élevée.": ("cp850", "mac-roman"),
    "Non è allergico. Pressione più alta; perché l'INR è 4,8.": ("cp850",),
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, encoding) for text, encodings in NOTES.items() for encoding in encodings]
)
def test_notes_of_other_encodings_are_decoded(text: str, encoding: str) -> None:
    content = text.encode(encoding)
    decoded = decode_text(content)
    assert decoded.text == text
    (remark,) = decoded.remarks
    assert remark.startswith("the encoding is not declared and not UTF-8: read as ")
    assert content.decode(decoded.encoding, "replace") == text


@pytest.mark.parametrize(
    "text",
    [
        "Digoxin 125 µg daily.", "Give ½ tablet", "2½ ml", "Temp 38.2 °C", "5 µg – not 5 mg", "“No evidence of PE”",
        "The patient’s mother denies fever…", "Ménière’s disease, Sjögren syndrome", "naïve", "Ø edema", "€ 5",
        "BP 120/80 ±5", "pH 7.40 ± 0.05", "1.5 l/m²", "• aspirin\n• warfarin", "§ 3", "5 × 10³", "Tylenol® 500 mg",
        "Größe 172 cm", "Öffnen der Augen", "Señor Núñez", "« non »", "75 µg täglich", "Non è allergico", "–––––\nfür",
        "Übelkeit, Schwäche; Gefäße unauffällig", "Douleur à l'effort; œdème", "Pressão elevada; medicação à noite",
    ],
)  # fmt: skip
def test_short_windows_notes_stay_right(text: str) -> None:
    assert decode_text(text.encode("cp1252"))[:2] == (text, "cp1252")


def test_doubtful_guess_is_told() -> None:
    guess = guess_encoding("Röntgen: š".encode("cp1250"))
    assert not guess.doubtful
    decoded = decode_text("Behçet".encode("cp1252"))
    assert decoded.text == "Behçet"
    assert "read as cp1252, a guess that is not certain" in decoded.remarks[0]


@pytest.mark.parametrize(
    ("content", "text", "place"),
    [
        ("Digoxin 125 µg daily.\nSpO₂ ≥ 92 %.\n".encode() + b"\xff", "Digoxin 125 µg daily.\nSpO₂ ≥ 92 %.\n�", 3),
        (b"Temp 38.2 \xb0C, 5 " + "µg – ½".encode(), "Temp 38.2 �C, 5 µg – ½", 1),
        ("5 µg".encode() + b"\r\n\xe9", "5 µg\r\n�", 2),
        ("Größe: 5 µg, 2½".encode()[:-1], "Größe: 5 µg, 2�", 1),
    ],
)
def test_one_broken_byte_is_one_replaced_sign(content: bytes, text: str, place: int) -> None:
    decoded = decode_text(content)
    assert decoded.encoding == "utf-8"
    assert decoded.text == text
    assert f"first in line {place}: shown as �" in decoded.remarks[0]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "Digoxin 125 µg, SpO₂ ≥ 92 %."),
        ("a.csv", 'id,text\n1,"Digoxin 125 µg, SpO₂ ≥ 92 %."\n'),
        ("a.md", "# Dose\n\nDigoxin 125 µg, SpO₂ ≥ 92 %."),
        ("a.html", "<html><meta charset=utf-8><p>Digoxin 125 µg, SpO₂ ≥ 92 %."),
    ],
)
def test_every_text_format_tells_of_broken_bytes(name: str, content: str) -> None:
    file = SourceFile(name, content.encode().replace(b"92", b"\xff92"))
    (draft,) = Registry().reader_of(file).read(file)
    assert "Digoxin 125 µg, SpO₂ ≥ �92 %." in draft.text
    assert draft.remarks[0].startswith("1 character is not valid utf-8, first in line ")


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "us-ascii"])
def test_valid_utf8_wins_over_a_declaration(declared: str) -> None:
    decoded = decode_text("Take 5 µg – if ≥ 60.".encode(), declared)
    assert decoded.text == "Take 5 µg – if ≥ 60."
    assert decoded.remarks == (f"declared as {declared}, but valid utf-8: read as utf-8",)
    assert decode_text(b"Take 5 mg.", declared).remarks == ()


def test_guess_holds_for_highlights() -> None:
    content = "ЖАЛОБЫ:\nБоль в груди.".encode("koi8-r")
    (draft,) = NoteReader().read(SourceFile("a.txt", content))
    assert draft.text == content.decode(draft.encoding)
