"""Numbers of sheets as they are shown: by number formats of Excel, such as `0.0" microgram"`, `0%` or `# ?/?`.

The unit of a dose is often only in the format of its cell. Dates are written in ISO 8601 instead, since "05/03/24" can
mean two days. Specification: ECMA-376, part 1, 18.8.31.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

BUILT_IN: Final[Mapping[int, str]] = MappingProxyType({
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "m/d/yyyy h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
})  # fmt: skip
"""Formats that a file may refer to by number without defining them."""
_GENERAL: Final = "general"
_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.?)|_(?P<blank>.?)|\*.?|\[(?P<bracket>[^\]]*)\]?|(?P<general>general)'
    r"|(?P<exponent>e[+-])(?=[0#?])|(?P<time>am/pm|a/p|[ymdhs]+)|(?P<end>;)|(?P<sign>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION: Final = re.compile(r"\s*(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)\s*")
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_DIGITS: Final = "0#?"
# Excel keeps 15 digits of a number.
_EXACT: Final = Context(prec=15, rounding=ROUND_HALF_UP)
_SHORT: Final = 16
"""Characters of at most 15 digits and a point."""
_WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP)
_MOST_DIGITS: Final = 30
_LAST_DIGITS: Final = tuple(Decimal(1).scaleb(-digits) for digits in range(_MOST_DIGITS + 1))
# Excel takes 255 characters.
_LONGEST: Final = 1000
_LARGEST_DAY: Final = 2_958_466
# Day 60 is 29 February 1900, which Excel counts although it did not exist.
_LEAP: Final = 60


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of a format.

    Attributes:
        tokens: Kind and text of each token: "text" for text that is shown, "digit" for a place of a digit, "." and the
            like for themselves.
        condition: Comparison and number of a condition; None for none.
        date: Letters of dates and times in it; "" for numbers.
        plain: For the usual format of one number, `"text"0.00"text"`, its texts and its digits behind the point.
    """

    tokens: tuple[tuple[str, str], ...]
    condition: tuple[str, Decimal] | None = None
    date: str = ""
    plain: tuple[str, int, str] | None = None

    def has(self, kind: str) -> bool:
        return any(each == kind for each, _ in self.tokens)

    def meets(self, value: Decimal) -> bool:
        if self.condition is None:
            return True
        sign, other = self.condition
        return {
            "<": value < other, ">": value > other, "<=": value <= other, ">=": value >= other, "=": value == other,
            "<>": value != other,
        }[sign]  # fmt: skip


def shown_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as its format shows it, a date in ISO 8601. A format that hides numbers gives "".

    Args:
        value: The number.
        code: The format.
        since_1904: Whether days are counted from 1904, as on old Macintosh computers.
    """
    sections = _parsed(code)
    if not sections:
        return general(value)
    number = _EXACT.create_decimal(repr(float(value)))
    if not number.is_finite():
        return ""
    section, is_absolute = _chosen(sections, number)
    if section is None:
        return general(value)
    if section.date:
        return _date(float(value), section.date, since_1904)
    if section.plain is not None and number >= 0 and number.adjusted() < _MOST_DIGITS:
        before, digits, after = section.plain
        return f"{before}{_rounded(number, digits):f}{after}"
    try:
        return " ".join(_filled(section, abs(number) if is_absolute else number).split())
    except (ArithmeticError, ValueError):
        # A format with thousands of signs gives numbers without end.
        return general(value)


def shown_text(text: str, code: str) -> str:
    """Return a text as its format shows it: `@" mg"` adds a unit, and an empty fourth section hides texts."""
    sections = _parsed(code)
    section = next((each for each in sections[-1:] if len(sections) > 3 or each.has("@")), None)
    if section is None:
        return text
    return "".join(text if kind == "@" else shown for kind, shown in section.tokens if kind in ("@", "text"))


def general(value: float) -> str:
    """Return a number without a format, with 15 digits and no exponent where it is not very large or small."""
    shown = repr(float(value))
    if len(shown) <= _SHORT and "." in shown and "e" not in shown:
        return shown.removesuffix(".0")
    number = _EXACT.create_decimal(shown)
    if not number.is_finite():
        return ""
    number = number.normalize()
    return f"{number:f}" if not number or -12 < number.adjusted() < 16 else str(number).replace("E", "e")


@lru_cache(maxsize=4096)
def _parsed(code: str) -> tuple[_Section, ...]:
    """Return the sections of a format; none for the general one."""
    if not code.strip() or code.strip().lower() == _GENERAL or len(code) > _LONGEST:
        return ()
    sections, tokens = list[_Section](), list[tuple[str, str]]()
    condition, date = None, ""
    for found in [*_TOKEN.finditer(code), None]:
        if found is None or found["end"]:
            sections.append(_section(tokens, condition, date))
            tokens, condition, date = [], None, ""
        elif (bracket := found["bracket"]) is not None:
            if compared := _CONDITION.fullmatch(bracket):
                condition = compared[1], Decimal(compared[2])
            elif _ELAPSED.fullmatch(bracket):
                date += "["
                tokens.append(("time", bracket))
            elif bracket.startswith("$"):
                tokens.append(("text", bracket[1:].partition("-")[0]))
        elif found["time"]:
            date += found["time"]
            tokens.append(("time", found["time"]))
        elif found["general"] or found["exponent"]:
            tokens.append(("general" if found["general"] else "E", found[0]))
        elif found["sign"]:
            sign = found["sign"]
            tokens.append(("digit" if sign in _DIGITS else sign if sign in ".,%/@" else "text", sign))
        else:
            # `_x` is a blank as wide as x, and `*x` fills the column.
            shown = found["quoted"] or found["escaped"] or (" " if found["blank"] else "")
            tokens.append(("text", shown))
    return tuple(sections)


def _section(tokens: list[tuple[str, str]], condition: tuple[str, Decimal] | None, date: str) -> _Section:
    kinds = [kind for kind, _ in tokens]
    # Digits follow only the point of seconds: "ss.00". Elsewhere, letters beside digits are a unit without quotes.
    if date and "digit" in kinds and ("s" not in date.lower() or kinds.index("digit") < kinds.index("time")):
        date, tokens = "", [("text" if kind == "time" else kind, text) for kind, text in tokens]
    return _Section(tuple(tokens), condition, date, None if date else _plain(tokens))


def _plain(tokens: list[tuple[str, str]]) -> tuple[str, int, str] | None:
    shape = "".join(
        text if text in ("0", ".") and kind != "text" else "t" if kind == "text" else "x" for kind, text in tokens
    )
    found = re.fullmatch(r"(t*)0(?:\.(0+))?(t*)", shape)
    if found is None:
        return None
    texts = [text for _, text in tokens]
    before, after = "".join(texts[: found.end(1)]), "".join(texts[found.start(3) :])
    return " ".join(f"{before}0".split())[:-1], len(found[2] or ""), " ".join(f"0{after}".split())[1:]


def _chosen(sections: tuple[_Section, ...], number: Decimal) -> tuple[_Section | None, bool]:
    """Return the section for a number, None for the general format, and whether the number loses its sign."""
    numeric = sections[:3]
    if not numeric or (len(sections) == 1 and sections[0].tokens == (("@", "@"),)):
        return None, False
    if any(section.condition for section in numeric):
        found = next((section for section in numeric if section.meets(number)), numeric[-1])
        return found, found.condition is not None and found.condition[0].startswith("<") and number < 0
    if number < 0 and len(numeric) > 1:
        return numeric[1], True
    return (numeric[2] if number == 0 and len(numeric) > 2 else numeric[0]), False


def _filled(section: _Section, number: Decimal) -> str:
    """Return the text of a section with the digits of a number."""
    kinds = [kind for kind, _ in section.tokens]
    if "digit" not in kinds:
        shown = general(float(abs(number)))
        text = "".join(shown if kind in ("general", "@") else text for kind, text in section.tokens if kind != ",")
        return f"-{text}" if number < 0 and {"general", "@"} & {*kinds} else text
    number = _WIDE.multiply(number, Decimal(100) ** kinds.count("%"))
    if "/" in kinds:
        text = _as_fraction(section.tokens, abs(number))
    elif "E" in kinds:
        text = _as_power(section.tokens, abs(number))
    else:
        text = _as_decimal(section.tokens, abs(number))
    return f"-{text}" if number < 0 and any(letter in "123456789" for letter in text) else text


def _as_decimal(tokens: tuple[tuple[str, str], ...], number: Decimal) -> str:
    kinds = [kind for kind, _ in tokens]
    point = kinds.index(".") if "." in kinds else len(kinds)
    places = [at for at, kind in enumerate(kinds) if kind == "digit"]
    before, after = [at for at in places if at < point], [at for at in places if at > point]
    # A comma behind the digits divides by a thousand. One between digits separates thousands.
    commas = [at for at, kind in enumerate(kinds) if kind == "," and at < point]
    last = before[-1] if before else -1
    scaling = [at for at, kind in enumerate(kinds) if kind == "," and (at > places[-1] or last < at < point)]
    number = _WIDE.divide(number, Decimal(1000) ** len(scaling))
    separated = any(before[0] < at < last for at in commas) if before else False
    whole, _, rest = f"{_rounded(number, len(after)):f}".partition(".")
    whole = "" if whole == "0" else whole
    digits = dict[int, str]()
    for position, at in enumerate(reversed(before)):
        end = len(whole) - position
        digit = whole[max(end - 1, 0) : end] if at != before[0] else whole[: max(end, 0)]
        digits[at] = digit or {"0": "0", "?": " "}.get(tokens[at][1], "")
    if separated:
        joined = "".join(digits[at] for at in before)
        digits |= dict.fromkeys(before, "")
        digits[before[-1]] = f"{int(joined):,}" if joined.strip().isdigit() else joined
    # Digits that the format does not ask for are left out from the right.
    kept = len(rest)
    while kept and rest[kept - 1] == "0" and tokens[after[kept - 1]][1] != "0":
        kept -= 1
    digits |= {at: rest[place] if place < kept else "" for place, at in enumerate(after)}
    text = ""
    for at, (kind, shown) in enumerate(tokens):
        if kind == "digit":
            text += digits[at]
        elif kind == "." and at == point:
            text += ("" if before else whole) + ("." if kept else "")
        elif kind not in (",", "."):
            text += shown
    return text


def _rounded(number: Decimal, digits: int) -> Decimal:
    try:
        return number.quantize(_LAST_DIGITS[min(digits, _MOST_DIGITS)], context=_WIDE)
    except InvalidOperation:
        return number


def _as_fraction(tokens: tuple[tuple[str, str], ...], number: Decimal) -> str:
    """Return a whole number and a fraction: "2 1/2" for `# ?/?`."""
    line = [kind for kind, _ in tokens].index("/")
    places = [at for at, (kind, _) in enumerate(tokens) if kind == "digit"]
    above = [at for at in places if at < line]
    below = [at for at in places if at > line]
    # The digits directly before the line are those of the numerator.
    first = line
    while first and tokens[first - 1][0] == "digit":
        first -= 1
    whole_places = [at for at in above if at < first]
    end = line + 1
    fixed = ""
    while end < len(tokens) and (tokens[end][0] == "digit" or tokens[end][1].isdigit()):
        fixed += tokens[end][1]
        end += 1
    whole = int(number) if whole_places else 0
    part = Fraction(number - whole)
    if any(letter in "123456789" for letter in fixed):
        below_line = int(fixed.replace("#", "0").replace("?", "0"))
        above_line = int(part * below_line + Fraction(1, 2))
    else:
        near = part.limit_denominator(10 ** min(len(below) or 1, 5) - 1)
        above_line, below_line = near.numerator, near.denominator
    if whole_places and above_line == below_line:
        whole, above_line = whole + 1, 0
    shown = f"{above_line}/{below_line}" if above_line or not whole_places else ""
    parts = [str(whole)] if whole_places and (whole or not shown) else []
    start = whole_places[0] if whole_places else first
    text = " ".join(filter(None, [*parts, shown]))
    prefix = "".join(shown for kind, shown in tokens[:start] if kind == "text")
    return prefix + text + "".join(shown for kind, shown in tokens[end:] if kind in ("text", "%"))


def _as_power(tokens: tuple[tuple[str, str], ...], number: Decimal) -> str:
    """Return a number with an exponent: "1.00E-05"."""
    at = [kind for kind, _ in tokens].index("E")
    mantissa = tokens[:at]
    step = max(1, sum(kind == "digit" for kind, _ in mantissa[: _point(mantissa)]))
    after = sum(kind == "digit" for kind, _ in mantissa[_point(mantissa) :])
    exponent = number.adjusted() // step * step if number else 0
    if _rounded(number.scaleb(-exponent, _WIDE), after) >= Decimal(10) ** step:
        exponent += step
    end = at + 1
    while end < len(tokens) and tokens[end][0] == "digit":
        end += 1
    sign = "-" if exponent < 0 else tokens[at][1][1:].replace("-", "")
    power = f"{abs(exponent):0{end - at - 1}d}"
    rest = "".join(shown for kind, shown in tokens[end:] if kind in ("text", "%"))
    return f"{_as_decimal(mantissa, number.scaleb(-exponent, _WIDE))}E{sign}{power}{rest}"


def _point(tokens: tuple[tuple[str, str], ...]) -> int:
    kinds = [kind for kind, _ in tokens]
    return kinds.index(".") if "." in kinds else len(kinds)


def _date(value: float, letters: str, since_1904: bool) -> str:
    """Return a day, a time or both in ISO 8601, as far as the format shows them."""
    if not 0 <= value < _LARGEST_DAY:
        return general(value)
    seconds = round(value * 86_400)
    clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if "[" in letters:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    has_day = {"y", "d"} & {*letters.lower()} or ("m" in letters.lower() and not {"h", "s"} & {*letters.lower()})
    if not has_day:
        return clock
    first = datetime.date(1904, 1, 1) if since_1904 else datetime.date(1899, 12, 31 if seconds < _LEAP * 86_400 else 30)
    day = (first + datetime.timedelta(days=seconds // 86_400)).isoformat()
    return f"{day} {clock}" if seconds % 86_400 else day
