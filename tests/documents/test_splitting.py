"""Structure, splitters and repairs: coverage of every character, and the cases health text is full of."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_text import ANY_TEXT, visible
from auscult.documents import SPLITTERS, default_splitter
from auscult.documents.splitting import SentenceSplitter, paragraphs, ranges_from_starts, repair

ONE_LINE = ANY_TEXT.map(lambda text: " ".join(text.splitlines()))


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in default_splitter().split(text)]


@pytest.mark.parametrize("name", sorted(SPLITTERS))
def test_every_named_splitter_keeps_the_contract(name: str) -> None:
    splitter = SPLITTERS[name]()
    assert isinstance(splitter, SentenceSplitter)
    assert splitter.name == name

    @settings(max_examples=150, deadline=None)
    @given(ONE_LINE)
    def covers(text: str) -> None:
        ranges = splitter.split(text)
        assert all(text[start:end] == text[start:end].strip() != "" for start, end in ranges)
        assert all(a[1] <= b[0] for a, b in pairwise(ranges))
        assert visible("".join(text[start:end] for start, end in ranges)) == visible(text)

    covers()


def test_default_is_a_named_splitter_and_made_once() -> None:
    assert default_splitter().name in SPLITTERS
    assert default_splitter() is default_splitter()


@given(st.text(max_size=60), st.lists(st.integers(-3, 70), max_size=8))
def test_ranges_cover_whatever_starts_a_library_returns(text: str, starts: list[int]) -> None:
    ranges = ranges_from_starts(text, sorted(starts))
    assert visible("".join(text[start:end] for start, end in ranges)) == visible(text)


@pytest.mark.parametrize(
    "sentences",
    [
        ["Take 5 mg p.o. b.i.d. for ten days.", "Then stop."],
        ["Give 500 mg q.8h. p.r.n. for pain.", "Call Dr. Miller if it persists."],
        ["She was seen by Ms. Brown.", "The dose was 2.5 mg/kg."],
        ["Infection with E. coli or Candida spp. is common.", "It is treated, e.g. with rest."],
        ["Tylenol No. 3 was given, see Fig. 2 below.", "No. 5 was not."],
        ["Acute vs. chronic pain differs.", "See p. 12 for both."],
        ["It stays in the blood (for some days.)", "Then it leaves."],
        ['He called it "flu."', "It was not."],
        ["Buffers hold the pH.", "They are needed."],
        ["Blood pressure was 120/80.", "Weight 70 kg.", "Lungs clear."],
        ["Give aspirin 81 mg q.d.", "Lasix 40 mg p.o. b.i.d. was held.", "He takes it t.i.d.", "She does not."],
        ["Return in 2 wks.", "Call in 3 mos. if worse.", "Aged 5 yrs.", "Fed 3 h.", "Asleep."],
        [
            "He was started on i.v. Rocephin at once.",
            "Then 40 mg i.v.",
            "He left at 3 p.m.",
            "A nurse called.",
        ],
        [
            "Vit. D was low, vit. B12 and Hep. B normal.",
            "Strep. A and Staph. aureus grew.",
            "It was hepatitis B.",
            "Rest.",
        ],
        ["Tab. Paracetamol 500 mg.", "Wt. 80 kg, Resp. rate 20.", "Approx. 5 mL was given.", "Rx. Amoxicillin."],
        ["It bound to kappa B.", "Seen by J. Smith today.", "Return in 2 wks.", "p53 was normal, x2."],
        ["CT neg. for PE.", "No abd. pain.", "Pt. w/o hx. of asthma.", "Disc. heparin.", "Cont. Warfarin 5 mg."],
        ["US pos. for stones, w/o sig. stenosis.", "Denies hx. of DVT.", "No periph. edema.", "Inc. dose to 5 mg."],
        ["No lymphad. was felt.", "Rt. arm weak.", "Pain resolved.", "No fever, w/o resp. distress.", "Vol. 500 ml."],
        ["Der Pat. kam am 3. Mai.", "Max. 2 Tbl. tgl. einnehmen.", "Z. n. Infarkt 2010.", "Tbl. 1-0-1, d. h. morgens."],
        [
            "Kein path. Befund li. basal.",
            "V. a. Embolie, a. e. nicht bestätigt.",
            "Ggf. Wdh. in 2 Wo.",
            "Am 12. 4. 2026 Kontrolle.",
        ],
        [
            "Ohne klin. Anhalt für eine Sepsis.",
            "Seit der 2. Woche besser.",
            "Es geht ihr gut.",
            "Evtl. Entlassung morgen.",
        ],
        ["The U.S. Food and Drug Administration approved it, e.g. Lasix.", "Pressure was 5 mm. Hg at rest."],
    ],
)
def test_health_text(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


def test_query_before_a_word_is_not_a_sentence() -> None:
    assert split("Imp: ?UTI.") == ["Imp: ?UTI."]


@pytest.mark.parametrize("line", ["II. Stop it", "viii. Stop aspirin", "XLIV. Dose", "(iv) Take one", "xii) Dose"])
def test_a_roman_number_is_not_a_sentence(line: str) -> None:
    assert split(line) == [line]


@pytest.mark.parametrize("first", ["Mix.", "Di.", "VIIII."])
def test_other_words_of_the_same_letters_end_sentences(first: str) -> None:
    assert split(f"{first} It stays.") == [first, "It stays."]


@pytest.mark.parametrize(
    ("text", "starts", "repaired"),
    [
        ("See Dr. Who.", [0, 8], []),  # join
        ('It rained. "Yes," he said.', [0, 12], [11]),  # shift to before the opening quote
        ("It ended.) Then more.", [0, 9], [11]),  # shift behind the closing bracket
        ("It stopped here. Then more.", [0], [17]),  # split
    ],
)
def test_each_repair(text: str, starts: list[int], repaired: list[int]) -> None:
    assert repair(text, starts) == repaired


@pytest.mark.parametrize("marker", ["- ", "* ", "• ", "1. ", "12) ", "(3) ", "a) ", "–  ", "(iv) "])
def test_list_items_are_recognised(marker: str) -> None:
    text = f"Causes:\n{marker}smoking\r\n  {marker}age"
    lead, first, second = paragraphs(text)
    assert not lead.list_item
    assert first.list_item
    assert second.list_item
    assert text[first.start : first.end] == f"{marker}smoking"
    assert text[second.body : second.end] == "age"


@pytest.mark.parametrize("line", ["-5 degrees", "1990. A year", "A. Smith wrote", "2.5 mg daily", "-", "1."])
def test_lines_that_only_look_like_list_items(line: str) -> None:
    (paragraph,) = paragraphs(line)
    assert not paragraph.list_item
    assert (paragraph.start, paragraph.body, paragraph.end) == (0, 0, len(line))


@given(ANY_TEXT)
def test_paragraphs_hold_every_visible_character(text: str) -> None:
    found = [text[p.start : p.end] for p in paragraphs(text)]
    assert visible("".join(found)) == visible(text)
    assert all(len(paragraph.splitlines()) == 1 for paragraph in found)
