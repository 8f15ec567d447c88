"""Characters and words of a PDF page: their positions and looks, and the pieces of lines that they form."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median_low
from typing import Any, Final, NamedTuple
from unicodedata import bidirectional, combining, name, normalize

from auscult.readers.signs import sign
from auscult_readers.pdf.fields import with_fields
from auscult_readers.pdf.glyphs import MADE_BLANK, SLANTED, SPACE, Glyph, PageContent, Rule
from auscult_readers.pdf.marks import Marks
from auscult_readers.pdf.strikes import struck_out

_FORCED_BOLD: Final = 1 << 18
_BOLD_WEIGHT: Final = 650
_BOLD_NAMES: Final = ("bold", "black", "heavy", "demi")
_LEVEL: Final = 5
"""Degrees by which a level line may rise or fall, as on a page that was scanned askew."""


def page_content(raw: Any, page: Any, text: Any, marks: Marks) -> PageContent:
    """Return the content of a page.

    Args:
        raw: The `pypdfium2.raw` module.
        page: An open page.
        text: Its open text page.
        marks: Its form fields and struck-out areas.
    """
    width, height = page.get_size()
    images = drawings = False
    rules: list[Rule] = []
    place_on_page = _placing(page)
    for place in range(min(raw.FPDFPage_CountObjects(page), 10_000)):
        drawn = raw.FPDFPage_GetObject(page, place)
        kind = raw.FPDFPageObj_GetType(drawn)
        if kind == raw.FPDF_PAGEOBJ_PATH and raw.FPDFPath_CountSegments(drawn) <= _MOST_SEGMENTS:
            rules += _rules(raw, drawn, place_on_page)
        images |= kind == raw.FPDF_PAGEOBJ_IMAGE
        drawings |= kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING, raw.FPDF_PAGEOBJ_FORM)
    glyphs, unmapped = _glyphs(raw, page, text)
    glyphs = with_fields(glyphs, marks, place_on_page)
    struck = struck_out(glyphs, [rule for rule in rules if rule.thin], [place_on_page(*box) for box in marks.struck])
    kept = tuple(SPACE if place in struck else glyph for place, glyph in enumerate(glyphs))
    struck_text = (
        "".join(glyph.text if place in struck else " " for place, glyph in enumerate(glyphs)) if struck else ""
    )
    return PageContent(
        width, height, kept, images, drawings, unmapped, tuple(rules), " ".join(struck_text.split()), marks.unread
    )


_MOST_SEGMENTS: Final = 6
_SHORTEST_RULE: Final = 10.0
_THICKEST: Final = 2.5


def _rules(raw: Any, path: Any, place_on_page: Any) -> Iterator[Rule]:
    """Yield a path as a rule if it is a horizontal line, or the upper and lower edge of its box."""
    corners = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(path, *corners) or not all(math.isfinite(corner.value) for corner in corners):
        return
    left, top, right, bottom = place_on_page(*(corner.value for corner in corners))
    if right - left >= _SHORTEST_RULE:
        thin = bottom - top <= _THICKEST
        yield Rule(left, right, top, thin)
        if not thin:
            yield Rule(left, right, bottom, thin)


def _glyphs(raw: Any, page: Any, text: Any) -> tuple[list[Glyph], int]:
    """Return the characters of a page, and the number of those that cannot be mapped to letters."""
    handle = text.raw
    turned, place_on_page = page.get_rotation() // 90, _placing(page)
    fonts: dict[int, _Font] = {}
    box, along, above = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    glyphs: list[Glyph] = []
    unmapped, high = 0, 0
    known: dict[tuple[int, str], str] = {}
    # Indexes of characters with a doubtful mapping, by font. Whether they are right shows in the words they form.
    doubtful: dict[str, list[int]] = {}
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(handle, index)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code, high = (0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0), 0
        drawn = raw.FPDFText_GetTextObject(handle, index)
        key = ctypes.addressof(drawn.contents) if drawn else 0
        font = fonts.get(key)
        if font is None:
            font = fonts[key] = _font(raw, handle, index, turned)
        unsure = raw.FPDFText_HasUnicodeMapError(handle, index) == 1
        letter = known.get((code, font.name))
        if letter is None:
            letter = known[code, font.name] = _letter(code, font.name)
        if unsure and code in _TEX_LIGATURES:
            letter = _TEX_LIGATURES[code]
        if letter == " ":
            glyphs.append(MADE_BLANK if raw.FPDFText_IsGenerated(handle, index) == 1 else SPACE)
            continue
        if not letter:
            unmapped += 1
            continue
        if not raw.FPDFText_GetLooseCharBox(handle, index, box):
            continue
        raw.FPDFText_GetCharOrigin(handle, index, along, above)
        corners = (box.left, box.bottom, box.right, box.top)
        if not all(map(math.isfinite, (*corners, along.value, above.value))):
            continue
        left, top, right, bottom = place_on_page(*corners)
        start, base = place_on_page(along.value, above.value, along.value, above.value)[:2]
        if unsure:
            doubtful.setdefault(font.name, []).append(len(glyphs))
        glyph = Glyph(letter, left, top, right, bottom, font.size, font.bold, font.turn, base)
        glyphs.append(glyph._replace(span=_span(glyph, start, font.angle)) if font.turn == SLANTED else glyph)
    wrong = _unbelievable(glyphs, doubtful)
    return [glyph for place, glyph in enumerate(glyphs) if place not in wrong], unmapped + len(wrong)


_TEX_LIGATURES: Final = {11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl"}
# The 148 most frequent pairs of letters in English, French, Spanish and German: 90 % of the pairs in such texts, 20 %
# of random pairs.
_PAIRS: Final = frozenset(
    re.findall(
        "..",
        "esendeonntinreantiteerleallaracosearatisthmeorstoshetoioascinematarocaicietrdiitrisiacueomelpandceadurnaunns"
        "vequlieclooupeprmieddoncdaemsonoetiactpousireaniaiidhachammoilsullofngauviolrtulplutimabdumpgesarmeuopssotrs"
        "folufeumblcuvaivhiavbefitusptsochoignfodbiappiagmuuiclucexsyiffagrltfreiowwawiht",
    )
)
_BELIEVED: Final = 0.6
_ENOUGH: Final = 12
_FEWEST_PAIRS: Final = 3


def _unbelievable(glyphs: Sequence[Glyph], doubtful: Mapping[str, Sequence[int]]) -> set[int]:
    """Return the indexes of doubtful letters that are probably wrong, because they form no words.

    If the letters are right, most adjacent pairs are frequent ones, or nearly all letters are of one script that is
    not Latin. A font with few letters is judged by the letters of all such fonts of its page.
    """
    wrong: set[int] = set()
    together = sorted(place for places in doubtful.values() for place in places)
    for places in doubtful.values():
        pairs = _pairs(glyphs, places)
        if len(pairs) < _ENOUGH:
            pairs = _pairs(glyphs, together)
        frequent = len(pairs) >= _FEWEST_PAIRS and sum(pair in _PAIRS for pair in pairs) >= _BELIEVED * len(pairs)
        if not frequent and not _of_one_script("".join(glyphs[place].text for place in places)):
            wrong.update(places)
    return wrong


def _pairs(glyphs: Sequence[Glyph], places: Sequence[int]) -> list[str]:
    """Return adjacent pairs of ASCII letters, in lower case."""
    pairs = ((glyphs[one].text + glyphs[other].text).lower() for one, other in pairwise(places) if other == one + 1)
    return [pair[:2] for pair in pairs if pair.isalpha() and pair.isascii()]


def _of_one_script(text: str) -> bool:
    """Whether nearly all letters are of one script that is not Latin. The three scripts of Japanese count as one."""
    scripts = Counter(name(letter, "").split(" ")[0] for letter in text if letter.isalpha())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    most = max((number for script, number in scripts.items() if script not in ("LATIN", "CJK", "")), default=0)
    return scripts.total() >= _ENOUGH and max(most, kana and kana + scripts["CJK"]) >= 0.8 * scripts.total()


_SIGN_FONTS: Final = ("wingdings 2", "wingdings 3", "wingdings", "webdings", "symbol")


def _letter(code: int, font: str) -> str:
    """Return the letter of a code from PDFium: " " for white space, "" for a code that cannot be shown."""
    if code == 2:  # A hyphen at the end of a line.
        return "-"
    if code < 32 or code in (0x7F, 0xFFFE, 0xFFFF) or code > 0x10FFFF:
        return " " if code in (9, 10, 13) else ""
    private = 0xF000 <= code <= 0xF0FF
    family = next((each for each in _SIGN_FONTS if each.replace(" ", "") in font.replace("-", "")), "")
    if private or (family.endswith("dings") and code < 0x100):
        if shown := sign(family, 0xF000 | code & 0xFF):
            return shown
        # Other signs in the private range are nearly always bullets.
        if private:
            return "•"
    letter = chr(code)
    if letter.isspace():
        return " "
    return letter if letter.isprintable() or code == 0xAD else ""


class _Font(NamedTuple):
    """The font and direction of a piece of text.

    Attributes:
        size: Size as drawn, in points.
        angle: Direction of its line, in degrees clockwise.
        turn: The same in quarter turns; `SLANTED` if the line is slanted.
        name: Name of the font, in lower case.
    """

    size: float
    bold: bool
    angle: float
    turn: int
    name: str


def _font(raw: Any, handle: Any, index: int, turned: int) -> _Font:
    """Return the font of the piece of text that character `index` belongs to."""
    matrix, flags, name_buffer = raw.FS_MATRIX(), ctypes.c_int(), ctypes.create_string_buffer(256)
    stated = raw.FPDFText_GetFontSize(handle, index)
    # A negative size turns letters by half a turn; the matrix then turns them back.
    size, half = abs(stated), 180 if stated < 0 else 0
    angle = 90.0 * turned
    if raw.FPDFText_GetMatrix(handle, index, matrix):
        size *= math.hypot(matrix.c, matrix.d)
        # Angles in a PDF are counterclockwise; the rotation of a page is clockwise.
        angle += math.degrees(math.atan2(-matrix.b, matrix.a)) + half
    raw.FPDFText_GetFontInfo(handle, index, name_buffer, 256, flags)
    heavy = raw.FPDFText_GetFontWeight(handle, index) >= _BOLD_WEIGHT or bool(flags.value & _FORCED_BOLD)
    named = name_buffer.value.decode("latin-1").lower()
    bold = heavy or any(each in named for each in _BOLD_NAMES)
    return _Font(size if math.isfinite(size) else 0.0, bold, angle, _quarter(angle), named)


def _quarter(angle: float) -> int:
    nearest = round(angle / 90)
    return nearest % 4 if abs(angle - 90 * nearest) <= _LEVEL else SLANTED


def _span(glyph: Glyph, start: float, angle: float) -> tuple[float, float, float, float]:
    """Return x and y of the points where a slanted character begins and ends on its line; its box is larger.

    Args:
        glyph: The character.
        start: Distance of its beginning from the left, in points.
        angle: Direction of its line, in degrees clockwise.
    """
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    # Ahead of the start, the box has the character's width and its height above or below the line; behind, the latter.
    ahead = glyph.right - start if cosine > 0 else start - glyph.left
    behind = glyph.base - glyph.top if sine > 0 else glyph.bottom - glyph.base
    width = max((ahead - behind * abs(sine / cosine)) / abs(cosine), 0.01 * glyph.size)
    return start, glyph.base, start + width * cosine, glyph.base + width * sine


def _placing(page: Any) -> Any:
    """Return a function from a box in PDF coordinates (left, bottom, right, top) to one on the visible page."""
    left, bottom, right, top = page.get_bbox()
    turned = page.get_rotation()
    if turned == 90:
        return lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left)
    if turned == 180:
        return lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom)
    if turned == 270:
        return lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0)
    return lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0)


_LIGATURES: Final = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
# Gaps and distances are in sizes of the font.
# The widest gap inside a word, and inside a piece of a line (columns and cells are pieces).
_LETTER_GAP: Final = 0.4
_PIECE_GAP: Final = 1.0
# How far back the next word or piece of a line may begin: kerning and slanted letters overlap.
_OVERLAP: Final = 0.5
# How far apart two letters of one line may stand across it: raised and lowered ones do.
_ACROSS: Final = 0.7
# How far apart two words of one slanted line may stand across it.
_ACROSS_SLANTED: Final = 0.5
# The largest gap between pieces of one line that were drawn at different times. Columns are further apart.
_BESIDE: Final = 0.6
# Raised letters are smaller than those before them, and their base line is higher.
_RAISED_SIZE: Final = 0.85
_RAISED_BY: Final = 0.15
# Letters spaced for emphasis: their largest gap, and the largest difference of their base lines.
_SPACED_GAP: Final = 2.5
_SPACED_LEVEL: Final = 0.1
# By the usual gap between them: how much wider a gap between words is, and how far gaps in words may differ. The usual
# gap counts as at least a share of the letter size.
_BETWEEN_SPACED: Final = 1.6
_SPACED_EVEN: Final = 0.35
_SPACED_USUAL: Final = 0.3
# Share of their pairs that are frequent in words, from which on spaced letters are a word.
_LEAST_PAIRS: Final = 0.5
_SHARED_HEIGHT: Final = 0.5
_LEADER: Final = 5
_FEWESTSPACED: Final = 4
_CLOSE: Final = 1.0
"""Points between a number and its exponent, at most."""
_SAME_PLACE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Word:
    """A word on a page.

    Attributes:
        box: Left, top, right and bottom on the visible page, in points.
        left: Left edge after the page is turned so that its line is level; likewise `top`, `right` and `bottom`.
        size: Size of its largest letter, rounded to half points.
        order: Its number in drawing order. For a line from right to left this is the reading order.
        leftwards: Whether it has letters that are read from right to left.
        in_field: Whether it is of a field of a form, or typed onto the page.
    """

    text: str
    page: int
    box: tuple[float, float, float, float]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    order: int
    leftwards: bool
    in_field: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Adjacent words of one line, without a wide gap between them.

    Attributes:
        size: Size of most of its letters, in points.
        bold: Whether all of its words are bold.
        leftwards: Whether most of its words are read from right to left.
    """

    words: tuple[Word, ...]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    leftwards: bool

    @property
    def text(self) -> str:
        """The words, separated by blanks."""
        return " ".join(word.text for word in self.words)


def piece_of(words: Iterable[Word]) -> Piece:
    """Return the piece that some words form, in reading order."""
    members = [*words]
    leftwards = 2 * sum(word.leftwards for word in members) > len(members)
    return _piece(sorted(members, key=lambda word: word.order if leftwards else word.left), leftwards=leftwards)


def _piece(ordered: Sequence[Word], *, leftwards: bool = False) -> Piece:
    return Piece(
        tuple(ordered),
        min(word.left for word in ordered),
        min(word.top for word in ordered),
        max(word.right for word in ordered),
        max(word.bottom for word in ordered),
        usual_size(ordered),
        all(word.bold for word in ordered),
        leftwards,
    )


def usual_size(words: Iterable[Word]) -> float:
    """Return the size of most letters, in points."""
    counted: dict[float, int] = {}
    for word in words:
        counted[word.size] = counted.get(word.size, 0) + len(word.text)
    return max(counted, key=lambda size: (counted[size], size))


def lines_of(content: PageContent, page: int) -> dict[int, list[Piece]]:
    """Return the pieces of a page's lines by the `turn` of the lines, level ones first. A slanted line is one piece.

    Words outside of the visible page are left out, and so are words that are drawn twice, as for a shadow.
    """
    words: dict[int, list[Word]] = {}
    slanted: list[list[Word]] = []
    end: Glyph | None = None
    drawn: set[tuple[str, int, int]] = set()
    for order, glyphs in enumerate(_runs(content.glyphs)):
        word = _word(glyphs, content, page, order)
        if word is None or _drawn_twice(word, drawn):
            continue
        if glyphs[0].turn != SLANTED:
            words.setdefault(glyphs[0].turn, []).append(word)
        elif end is not None and _on_slanted_line(end, glyphs[0]):
            slanted[-1].append(word)
        else:
            slanted.append([word])
        end = glyphs[-1] if glyphs[0].turn == SLANTED else None
    lines = {turn: pieces_of(words[turn]) for turn in sorted(words)}
    return lines | ({SLANTED: [_piece(line) for line in slanted]} if slanted else {})


def _on_slanted_line(end: Glyph, glyph: Glyph) -> bool:
    """Whether a word that begins with `glyph` continues the slanted line whose last character is `end`."""
    along, across = _moved(end, glyph)
    size = max(end.size, glyph.size, 1.0)
    return -_OVERLAP * size <= along <= _PIECE_GAP * size and abs(across) <= _ACROSS_SLANTED * size


def drawn_texts(content: PageContent) -> Iterator[str]:
    """Yield all words drawn on a page, including those that `lines_of` leaves out."""
    yield from map(_written, _runs(content.glyphs))


def outside_texts(content: PageContent) -> list[str]:
    """Return the words outside of the visible page, which `lines_of` leaves out."""
    if all(glyph.text == " " or _is_shown(_box([glyph]), content) for glyph in content.glyphs):
        return []
    outside = (_written(glyphs) for glyphs in _runs(content.glyphs) if not _is_shown(_box(glyphs), content))
    return [text for text in outside if any(map(str.isalnum, text))]


def pieces_of(words: Sequence[Word]) -> list[Piece]:
    """Group a page's words into pieces of lines, without dots that lead to a page number."""
    groups: list[list[Word]] = []
    for word in _without_leaders(words):
        if groups and _goes_on(groups[-1][-1], word):
            groups[-1].append(word)
        else:
            groups.append([word])
    return _joined([piece_of(group) for group in groups])


def rows_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Group pieces into rows of one height. Rows are from top to bottom, their pieces from left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.top + piece.bottom, piece.left)):
        if rows and any(_level(piece, other) for other in reversed(rows[-1])):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def _runs(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    """Yield the characters of each word: they have no blank, gap or jump between them, or are spaced for emphasis."""
    runs: list[list[Glyph]] = []
    begins, after_blank = True, False
    for glyph in glyphs:
        if glyph.text == " ":
            # PDFium may insert a blank between a number and its exponent; only a real blank always ends a word.
            begins = begins or glyph is SPACE
            after_blank = True
            continue
        before = runs[-1][-1] if runs else None
        jumps = before is None or begins or not _next(before, glyph)
        if not jumps and after_blank and before is not None:
            exponent = glyph if _is_raised(before, glyph) else before if _is_raised(glyph, before) else None
            jumps = exponent is None or exponent.text.isalpha() or _moved(before, glyph)[0] > _CLOSE
        if jumps:
            runs.append([glyph])
        else:
            runs[-1].append(glyph)
        begins = after_blank = False
    at = 0
    while at < len(runs):
        end = at + 1
        while end < len(runs) and _spaced(runs[end - 1], runs[end]):
            end += 1
        yield from _closed_up(runs[at:end]) if end - at >= _FEWESTSPACED else runs[at:end]
        at = end


def _spaced(run: Sequence[Glyph], following: Sequence[Glyph]) -> bool:
    """Whether two runs are single letters of one line, with a gap that letters spaced for emphasis may have."""
    one, other = run[0], following[0]
    if len(run) > 1 or len(following) > 1 or not (one.text.isalpha() and other.text.isalpha()):
        return False
    alike = (
        one.turn == other.turn == 0 and one.size == other.size and abs(one.base - other.base) < _SPACED_LEVEL * one.size
    )
    return alike and 0 < other.left - one.right <= _SPACED_GAP * one.size


def _closed_up(runs: Sequence[list[Glyph]]) -> list[list[Glyph]]:
    """Join spaced letters into words. If they form no words, return them unchanged."""
    gaps = [after[0].left - before[0].right for before, after in pairwise(runs)]
    usual = median_low(gaps)
    words = [[*runs[0]]]
    for gap, run in zip(gaps, runs[1:], strict=True):
        if gap > _BETWEEN_SPACED * usual:
            words.append([])
        words[-1] += run
    inner = [gap for gap in gaps if gap <= _BETWEEN_SPACED * usual]
    texts = ["".join(glyph.text for glyph in word) for word in words]
    joined = "".join(texts).lower()
    pairs = [text[at : at + 2] for text in map(str.lower, texts) for at in range(len(text) - 1)]
    even = max(inner) - min(inner) <= _SPACED_EVEN * max(usual, _SPACED_USUAL * runs[0][0].size)
    # "A B C D" and "N N Y N" are columns.
    a_word = len(set(joined)) > 2 and sum(pair in _PAIRS for pair in pairs) >= _LEAST_PAIRS * len(pairs) > 0
    return words if even and a_word else [*runs]


def _next(one: Glyph, other: Glyph) -> bool:
    if one.turn != other.turn:
        return False
    along, across = _moved(one, other)
    size = max(one.size, other.size, 1.0)
    if one.turn == 0 and along < 0 and _leftwards(one.text) and _leftwards(other.text):
        along = one.left - other.right
    # The letters of a ligature share its box, so the next one begins a whole width further back.
    wide = max(one.right - one.left, one.bottom - one.top) if along < 0 else 0.0
    return -max(_OVERLAP * size, min(wide, 2 * size)) <= along <= _LETTER_GAP * size and abs(across) <= _ACROSS * size


def _moved(one: Glyph, other: Glyph) -> tuple[float, float]:
    """Return the gap between two characters along their line, and the distance across it, in points."""
    if one.span is not None and other.span is not None:
        return _moved_aslant(one.span, other.span)
    if one.turn in (1, 3):
        along = other.top - one.bottom if one.turn == 1 else one.top - other.bottom
        return along, (other.left + other.right - one.left - one.right) / 2
    along = one.left - other.right if one.turn == 2 else other.left - one.right
    return along, (other.top + other.bottom - one.top - one.bottom) / 2


def _moved_aslant(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, float]:
    """Return the gap between two slanted characters along the first one's line, and the distance across it."""
    (x, y), (ahead, down) = (one[2] - one[0], one[3] - one[1]), (other[0] - one[2], other[1] - one[3])
    length = math.hypot(x, y)
    return (ahead * x + down * y) / length, (down * x - ahead * y) / length


def _word(glyphs: list[Glyph], content: PageContent, page: int, order: int) -> Word | None:
    text = _written(glyphs)
    left, top, right, bottom = box = _box(glyphs)
    if not _is_shown(box, content):
        return None
    turn = glyphs[0].turn
    level = {
        1: (top, content.width - right, bottom, content.width - left),
        2: (content.width - right, content.height - bottom, content.width - left, content.height - top),
        3: (content.height - bottom, left, content.height - top, right),
    }.get(turn, (left, top, right, bottom))
    size = round(max(glyph.size for glyph in glyphs) * 2) / 2
    bold = sum(glyph.bold for glyph in glyphs) * 2 > len(glyphs)
    return Word(text, page, box, *level, size, bold, order, any(map(_leftwards, text)), glyphs[0].in_field)


def _box(glyphs: Sequence[Glyph]) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom of characters together, in points."""
    return (
        min(glyph.left for glyph in glyphs),
        min(glyph.top for glyph in glyphs),
        max(glyph.right for glyph in glyphs),
        max(glyph.bottom for glyph in glyphs),
    )


def _is_shown(box: tuple[float, float, float, float], content: PageContent) -> bool:
    """Whether the middle of a box is on the visible page."""
    left, top, right, bottom = box
    return 0 <= left + right <= 2 * content.width and 0 <= top + bottom <= 2 * content.height


def _written(glyphs: Sequence[Glyph]) -> str:
    """Return the text of a word, with accents joined to their letters and "^" before raised numbers ("10^9")."""
    parts: list[str] = []
    base: Glyph | None = None
    raised = False
    for place, glyph in enumerate(glyphs):
        text = glyph.text
        before = glyphs[place - 1] if place else None
        if before is not None and (composed := _composed(before, glyph)):
            parts[-1] = parts[-1][:-1] + composed
            base = glyph if base is before else base
            continue
        was_raised, raised = raised, base is not None and _is_raised(base, glyph)
        if raised and not was_raised and _parts_raised("".join(parts), "".join(each.text for each in glyphs[place:])):
            parts.append("^")
        if not raised:
            base = glyph
        parts.append(text)
    whole = "".join(parts).translate(_LIGATURES)
    return normalize("NFC", whole) if any(map(combining, whole)) else whole


def _is_raised(base: Glyph, glyph: Glyph) -> bool:
    return (
        base.turn == glyph.turn == 0
        and glyph.size <= _RAISED_SIZE * base.size
        and _RAISED_BY * base.size <= base.base - glyph.base <= base.size
    )


def _parts_raised(before: str, raised: str) -> bool:
    """Whether a raised number needs "^" before it. That of a short unit, as in "m2", does not."""
    if not re.match(r"[-+\u2212\u2013]?\d", raised):
        return False
    letters = re.search(r"[^\W\d_]*$", before)
    return not letters or not 0 < len(letters[0]) < _SHORTEST_NOTED


_ACCENTS: Final = {
    "´": "\u0301", "`": "\u0300", "ˋ": "\u0300", "ˊ": "\u0301", "¨": "\u0308", "^": "\u0302", "ˆ": "\u0302",
    "~": "\u0303", "˜": "\u0303", "˚": "\u030a", "°": "\u030a", "¸": "\u0327", "ˇ": "\u030c", "˘": "\u0306",
    "¯": "\u0304", "˙": "\u0307", "˝": "\u030b", "˛": "\u0328",
}  # fmt: skip
_SHORTEST_NOTED: Final = 3


def _composed(one: Glyph, other: Glyph) -> str:
    """Return the letter that an accent and a letter drawn over each other form; "" if they form none."""
    for accent, letter in ((one, other), (other, one)):
        mark = _ACCENTS.get(accent.text)
        if mark is None or not letter.text.isalpha():
            continue
        middle = (accent.left + accent.right) / 2
        if not letter.left <= middle <= letter.right or accent.turn != 0 or letter.turn != 0:
            continue
        whole = normalize("NFC", {"ı": "i", "ȷ": "j"}.get(letter.text, letter.text) + mark)
        if len(whole) == 1:
            return whole
    return ""


def _leftwards(letter: str) -> bool:
    """Whether a letter is of a script written from right to left."""
    return letter > "\u0590" and bidirectional(letter[0]) in ("R", "AL")


def _without_leaders(words: Sequence[Word]) -> Iterator[Word]:
    for dots, run in groupby(words, key=lambda word: not word.text.strip(".·…")):
        members = [*run]
        if not dots or sum(len(word.text) for word in members) < _LEADER:
            yield from members


def _drawn_twice(word: Word, drawn: set[tuple[str, int, int]]) -> bool:
    """Whether a word is in `drawn` at nearly the same position; add it."""
    left, top = (int(place / _SAME_PLACE) for place in word.box[:2])
    near = any((word.text, left + x, top + y) in drawn for x in (-1, 0, 1) for y in (-1, 0, 1))
    drawn.add((word.text, left, top))
    return near


def _goes_on(word: Word, other: Word) -> bool:
    size = max(word.size, other.size, 1.0)
    gaps = [other.left - word.right]
    if word.leftwards or other.leftwards:
        gaps.append(word.left - other.right)
    return _level(word, other) and any(-_OVERLAP * size <= gap <= _PIECE_GAP * size for gap in gaps)


def _level(one: Word | Piece, other: Word | Piece) -> bool:
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared >= _SHARED_HEIGHT * min(one.bottom - one.top, other.bottom - other.top)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join pieces that are side by side but were drawn at different times."""
    groups: list[list[Piece]] = []
    for row in rows_of(pieces):
        for piece in row:
            before = groups[-1][-1] if groups else None
            if before is not None and _level(before, piece) and _beside(before, piece):
                groups[-1].append(piece)
            else:
                groups.append([piece])
    return [
        together[0] if len(together) == 1 else piece_of(word for piece in together for word in piece.words)
        for together in groups
    ]


def _beside(before: Piece, piece: Piece) -> bool:
    size = max(before.words[-1].size, piece.words[0].size, 1.0)
    return -_OVERLAP * size <= piece.left - before.right <= _BESIDE * size
