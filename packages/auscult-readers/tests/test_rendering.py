"""LibreOffice and a browser show files without a network, and load nothing that a file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult_readers.pdf.pdfium import opened
from auscult_readers.rendering import AS_PAGES, PAGE, can_render, convert_files, rendered
from needs import Needs
from small_word_files import saved, word_leaflet

_WORD = next(kind for kind, ending in AS_PAGES.items() if ending == ".docx")


def words_of(content: bytes | None) -> str:
    assert content is not None
    with opened(content) as pdf:
        return " ".join(" ".join(pdf.layer(number) for number in range(len(pdf))).split())


@pytest.mark.slow
def test_a_page_is_shown_without_what_it_names(tmp_path: Path, needs: Needs) -> None:
    needs.chromium()
    if not can_render(PAGE):
        needs.command("unshare", "--user", "--map-root-user", "--net", "true")
    (tmp_path / "secret.html").write_text("secret")
    frame = f"<iframe src='{(tmp_path / 'secret.html').as_uri()}'></iframe>"
    script = "<script>document.body.append('scripted')</script>"
    (shown,) = rendered([(PAGE, f"<p>Take 5 mg.</p>{frame}{script}<s>old</s>".encode())])
    assert words_of(shown) == "Take 5 mg. old"
    sent = f"<meta http-equiv='&#114;efresh' content='0;url={(tmp_path / 'secret.html').as_uri()}'>here"
    assert rendered([(PAGE, sent.encode())]) == [None]


@pytest.mark.slow
def test_one_broken_file_does_not_stop_others(needs: Needs) -> None:
    needs.office()
    leaflet = saved(word_leaflet())
    shown = convert_files([("0.docx", leaflet), ("1.docx", b"PK\3\4 broken"), ("2.docx", leaflet)], "pdf")
    assert "Allopurinol" in words_of(shown[0])
    assert words_of(shown[2]) == words_of(shown[0])
    assert rendered([(_WORD, leaflet), ("text/plain", b"text")])[1] is None
