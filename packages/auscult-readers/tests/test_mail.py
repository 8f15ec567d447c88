"""Mail: the best part, headers as fields, attachments as documents, and what is told of those that cannot be read."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
from email.message import EmailMessage

import pytest

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.registry import Registry
from auscult_readers.mail import MailReader
from good_files import zipped
from small_office_files import GOUT, RTF, mail, outlook, web_archive, workbook


def read(content: bytes, name: str = "file.eml") -> list[DraftDocument]:
    file = SourceFile(name, content)
    reader = Registry().reader_of(file)
    assert isinstance(reader, MailReader)
    return list(reader.read(file))


def text_mail(text: str, *headers: str) -> bytes:
    return "\r\n".join([*(headers or ("From: a@b.test", "Subject: A letter")), "", text]).encode()


def test_the_page_is_read_and_headers_are_fields() -> None:
    (draft,) = read(mail())
    assert (draft.title, draft.text) == ("Discharge letter", f"Letter\n\n{GOUT} Ménière.")
    assert draft.metadata == {
        "author": "Dr. Jörg Weber", "to": "ward7@example.org", "date": "2024-03-05", "names": "Dr. Jörg Weber",
    }  # fmt: skip
    assert draft.content is not None
    begin, end = draft.runs[-1].tolist()[2:]
    assert draft.content.decode(draft.encoding)[begin:end].endswith("Ménière.")


def test_plain_text_is_read_without_html_words() -> None:
    (draft,) = read(mail(page=False))
    assert draft.text.strip() == f"{GOUT} (plain)"
    made = EmailMessage()
    made["From"] = "a@b.test"
    made.set_content("In words.")
    made.add_alternative("<html><style>p {color: red}</style><img src='cid:1'></html>", subtype="html")
    assert read(made.as_bytes())[0].text.strip() == "In words."


@pytest.mark.parametrize("encoding", ["7bit", "8bit", "quoted-printable", "base64"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
def test_transfer_encodings_and_charsets_are_decoded(encoding: str, charset: str) -> None:
    text = "He was told: no vita" + "min K (café)."
    encoded = text.encode(charset)
    if encoding == "base64":
        sent = base64.encodebytes(encoded)
    elif encoding == "quoted-printable":
        sent = encoded.replace(b"vitamin", b"vita=\r\nmin").replace("é".encode(charset), "".join(
            f"={each:02X}" for each in "é".encode(charset)
        ).encode())  # fmt: skip
    else:
        sent = encoded
    head = f"From: a@b.test\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    assert read(head.encode() + sent)[0].text == text


def test_mail_header_charset_wins_over_the_meta_tag() -> None:
    page = "<html><head><meta charset='utf-8'></head><body><p>Café</p></body></html>".encode("cp1252")
    head = b"From: a@b.test\nContent-Type: text/html; charset=windows-1252\n\n"
    assert read(head + page)[0].text == "Café"


@pytest.mark.parametrize(
    ("written", "title"),
    [("=?utf-8?B?TcOpbmnDqHJl?=", "Ménière"), ("=?iso-8859-1?Q?M=E9ni=E8re?=", "Ménière"), ("Ménière", "Ménière"),
     ("=?x-unknown?Q?a?=", "=?x-unknown?Q?a?="), ("long\r\n  and folded", "long and folded")],
)  # fmt: skip
def test_encoded_subjects_are_decoded(written: str, title: str) -> None:
    (draft,) = read(text_mail("Words.", "From: a@b.test", f"Subject: {written}"))
    assert draft.title == title


def test_first_line_of_a_message_stays_text() -> None:
    (draft,) = read(text_mail("Your knee\n\nIt is gout.", "From: a@b.test", "Subject: Results"))
    assert (draft.title, draft.sections[0].text) == ("Results", "Your knee\n\nIt is gout.")


def test_attachments_are_documents_of_their_own() -> None:
    drafts = {draft.key: draft for draft in read(mail(("plan.xlsx", workbook()), ("letter.rtf", RTF)))}
    assert set(drafts) == {"", "plan.xlsx", "letter.rtf"}
    assert "Medicine: Allopurinol | Dose: 100 mg" in drafts["plan.xlsx"].text
    assert drafts["plan.xlsx"].content == workbook()
    assert (drafts["plan.xlsx"].title, drafts["letter.rtf"].title) == ("plan.xlsx", "Gout")
    assert drafts["plan.xlsx"].metadata["message"] == "Discharge letter"
    assert drafts["letter.rtf"].metadata["author"] == "Ward 7"


def test_unreadable_attachments_are_reported_and_others_read() -> None:
    harmful = zipped({"../outside.txt": b"x", "zeros.txt": bytes(20_000_000), "good.txt": b"Rest the joint."})
    *others, own = read(
        mail(("all.zip", harmful), ("scan.png", b"\x89PNG\r\n\x1a\n"), ("note.txt.gz", gzip.compress(b"Zipped.")))
    )
    assert {draft.key: draft.text for draft in others} == {"all.zip/good.txt": "Rest the joint.", "note.txt": "Zipped."}
    told = "\n".join(own.remarks)
    for said in ("all.zip/../outside.txt: path traversal", "zeros.txt: zip bomb", "scan.png: image"):
        assert said in told


def test_attached_tar_archives_are_read() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in (("plan.txt", b"Rest the joint."), ("more/diet.txt", b"Drink water.")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    *others, _ = read(mail(("all.tgz", packed.getvalue())))
    texts = {draft.key: draft.text for draft in others}
    assert texts == {"all.tgz/plan.txt": "Rest the joint.", "all.tgz/more/diet.txt": "Drink water."}


def test_nested_messages_are_read_to_the_depth_limit() -> None:
    message = mail(page=False)
    for _ in range(6):
        made = EmailMessage()
        made["From"], made["Message-ID"] = "a@b.test", "<2@b.test>"
        made.set_content("Forwarded.")
        made.add_attachment(message, "application", "octet-stream", filename="inner.eml")
        message = made.as_bytes()
    drafts = read(message)
    assert len(drafts) == 4
    assert any("nested too deeply" in remark for draft in drafts for remark in draft.remarks)


def test_a_forwarded_message_is_a_document() -> None:
    made = EmailMessage()
    made["From"] = "a@b.test"
    made["Subject"] = "Look"
    made.set_content("See below.")
    inner = EmailMessage()
    inner["From"], inner["Subject"], inner["MIME-Version"] = "c@d.test", "Gout", "1.0"
    inner.set_content(GOUT)
    made.add_attachment(inner)
    first, own = read(made.as_bytes())
    assert (first.key, first.title, first.text.strip()) == ("message.eml", "Gout", GOUT)
    assert own.text.strip() == "See below."


def test_pictures_of_a_saved_page_are_no_documents() -> None:
    (draft,) = read(web_archive(), "page.mhtml")
    assert (draft.title, draft.text) == ("Gout", f"Gout\n\n{GOUT}")
    assert not draft.remarks


def test_outlook_messages_are_read_with_their_attachments() -> None:
    plan = b"Rest the joint for a week.\n" * 300
    first, own = read(outlook(plan), "letter.msg")
    assert (first.key, first.content) == ("plan.txt", plan)
    assert (own.title, own.text.split()) == ("Discharge letter", f"{GOUT} Rest the joint.".split())
    assert own.metadata["author"] == "Dr. Weber"


def test_a_subject_suffices_and_wordless_mail_is_refused() -> None:
    (draft,) = read(text_mail("", "From: a@b.test", "Subject: Gout is back"))
    assert (draft.text, draft.content) == ("Gout is back", b"Gout is back")
    with pytest.raises(UnreadableError) as error:
        read(text_mail("", "From: a@b.test", "To: c@d.test"))
    assert error.value.kind == "no words"


@pytest.mark.parametrize(
    "note",
    ["Date: 5 March\nSubject: gout\n\nHe has gout.", "From: the ward\n\nCall.", "Plan: rest\n\nMIME-Version: 1.0"],
)
def test_notes_that_begin_like_mail_are_notes(note: str) -> None:
    assert Registry().reader_of(SourceFile("note.txt", note.encode())).name == "text"


def test_mail_is_recognised_by_headers_despite_its_name() -> None:
    assert Registry().reader_of(SourceFile("saved.txt", mail())).name == "mail"


ENVELOPE = "From a@x.org Sat Jan  3 10:00:00 2026"


@pytest.mark.parametrize(
    "envelope",
    [
        ENVELOPE, "From - Sat Jan 03 10:00:00 2026", "From 16@xxx Mon Jan 03 10:00:00 +0000 2026",
        "From MAILER-DAEMON Fri Jul  8 12:08:34 2011 remote from host",
    ],
)  # fmt: skip
def test_envelope_line_is_no_text(envelope: str) -> None:
    sent = "SG9sZCB3YXJmYXJpbjogdGhlIElOUiBpcyA0LjguCg=="
    headers = "From: a@x.org\nSubject: Dose\nContent-Transfer-Encoding: base64"
    (draft,) = read(f"{envelope}\n{headers}\n\n{sent}\n".encode(), "note")
    assert (draft.title, draft.text, draft.key) == ("Dose", "Hold warfarin: the INR is 4.8.\n", "")


def test_each_mail_of_a_mailbox_is_read() -> None:
    first = text_mail("Hold warfarin.\r\n\r\nFrom Monday on: 5 mg.\r\n>From here.\r\n", "Subject: One").decode()
    second = mail(page=False).decode()
    third = "Subject: Three\n\nGive 0.5 mg.\n"
    content = f"\n\n{ENVELOPE}\n".join(["", first, second, third]).lstrip()
    drafts = read(content.encode(), "Inbox.mbox")
    assert [(draft.key, draft.title) for draft in drafts] == [("1", "One"), ("2", "Discharge letter"), ("3", "Three")]
    assert drafts[0].text.splitlines()[:4] == ["Hold warfarin.", "", "From Monday on: 5 mg.", "From here."]
    assert drafts[2].text.strip() == "Give 0.5 mg."


def test_wordless_mail_of_a_mailbox_is_told() -> None:
    content = f"{ENVELOPE}\nDate: x\n\n\n{ENVELOPE}\nSubject: Two\n\nGive 0.5 mg.\n"
    (draft,) = read(content.encode(), "a.mbox")
    assert (draft.key, draft.remarks) == ("2", ["message 1: no words (one without any)"])


def test_note_about_a_sender_is_no_mail() -> None:
    note = b"From Dr. Weber, Sat Jan  3 10:00:00 2026\nHold warfarin: the INR is 4.8.\n"
    assert Registry().reader_of(SourceFile("a.txt", note)).name == "text"


@pytest.mark.parametrize(
    ("delsp", "text", "read_as"),
    [
        ("yes", "Give metopro \nlol 25 mg twice a day and \n stop.\n", "Give metoprolol 25 mg twice a day and stop.\n"),
        ("yes", "No aller  \ngies\n\nDo not  \ngive it.", "No aller gies\n\nDo not give it."),
        ("no", "No known \nallergies.\nStop.\n", "No known allergies.\nStop.\n"),
        ("no", "> Give 5 \n> mg.\n> Now. \nAgreed \n-- \nDr Lee", "> Give 5 mg.\n> Now. \nAgreed \n-- \nDr Lee"),
        ("no", " From here: 5 mg\n  indented", "From here: 5 mg\n indented"),
    ],
)
def test_broken_lines_are_joined(delsp: str, text: str, read_as: str) -> None:
    (draft,) = read(text_mail(text, "Subject: x", f"Content-Type: text/plain; format=flowed; delsp={delsp}"))
    assert draft.text == read_as


def test_russian_mail_without_charset_is_decoded() -> None:
    (draft,) = read(text_mail("").strip() + "\n\nАллергии нет. Варфарин отменить.".encode("koi8-r"))
    assert draft.text == "Аллергии нет. Варфарин отменить."
    assert "read as koi8-r" in draft.remarks[0]
