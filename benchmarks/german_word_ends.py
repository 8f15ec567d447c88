"""List the letters with which no German word ends, to recognise shortened words: "pathol.", "ordentl.".

    python benchmarks/german_word_ends.py WORDFREQ_WHEEL SNOWBALL_VOCABULARY

WORDFREQ_WHEEL is wordfreq's wheel (pip download --no-deps wordfreq; its data: CC BY-SA 4.0). SNOWBALL_VOCABULARY is
german/voc.txt of github.com/snowballstem/snowball-data (BSD).

Writes src/auscult/documents/german_word_ends.txt: three or four letters that occur in at least `LEAST` words, but at
the end of no word that is frequent or in Snowball's vocabulary. Prints what share of the abbreviations in
abbreviations_de.toml the list finds, and what share of rarer words it takes for shortened.
"""

from __future__ import annotations

import gzip
import re
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import msgpack

FOLDER = Path(__file__).resolve().parent.parent / "src" / "auscult" / "documents"
LEAST = 100
#: Frequencies in hundredths of a factor of ten below 1: lower is more frequent.
FREQUENT, KNOWN, TESTED = 560, 760, 620
LENGTHS = (3, 4)
WORD = re.compile(r"[a-zäöü]{3,}")
#: Ends of substances' names (WHO's stems) and of Latin words, which general vocabularies lack.
SUBSTANCES = (
    "pril olol azol epam olam zepin sartan statin cillin mycin micin oxacin mab nib vir prazol tidin triptan setron "
    "dipin gliptin flozin glinid parin xaban gatran platin rubicin taxel azin amid azid idon apin ilast terol onid "
    "ason thorax ileus uterus ulcus humerus femur tibia fundus fornix cortex vertex appendix koloskopie aszites "
    "erythem ekzem emphysem kreatinin bilirubin albumin globin ferritin troponin insulin heparin exanthem oedem atem "
    "system symptom myom itis ose ämie urie pathie ektomie karzinom lymphom sarkom adenom glaukom hämatom ödem plasma "
    "koma trauma "
)


def main() -> None:
    """Write the list, and print how good it is."""
    words = frequencies(Path(sys.argv[1]))
    vocabulary = set(Path(sys.argv[2]).read_text(encoding="utf-8").replace("ß", "ss").split())
    table = tomllib.loads((FOLDER / "abbreviations_de.toml").read_text(encoding="utf-8"))
    listed = {word for name in ("linking", "adjective", "closing") for word in table[name].split()}
    whole = {word for word, rarity in words.items() if rarity <= FREQUENT or word in vocabulary} - listed
    ends = {word[-length:] for word in (*whole, *SUBSTANCES.split()) for length in LENGTHS}
    inside: Counter[str] = Counter()
    for word in {word for word, rarity in words.items() if rarity <= KNOWN} | vocabulary:
        inside.update(word[at : at + length] for length in LENGTHS for at in range(len(word) - length + 1))
    never = {letters for letters, count in inside.items() if count >= LEAST and letters not in ends}
    never = {letters for letters in never if letters[-1] not in "aeiouyäöü" and letters[1:] not in never}
    (FOLDER / "german_word_ends.txt").write_text("\n".join(sorted(never)) + "\n", encoding="utf-8")
    rare = [word for word, rarity in words.items() if FREQUENT < rarity <= TESTED and word not in listed]
    abbreviations = [word for word in listed if WORD.fullmatch(word)]
    for name, sample in (("abbreviations", abbreviations), ("rarer words", rare)):
        long = [word for word in sample if len(word) > LENGTHS[0]]
        share = sum(word[-3:] in never or word[-4:] in never for word in long) / len(long)
        print(f"{name}: {share:.1%} of {len(long)}")


def frequencies(wheel: Path) -> dict[str, int]:
    """Return wordfreq's German words with their rarity."""
    with zipfile.ZipFile(wheel) as archive:
        packed = gzip.decompress(archive.read("wordfreq/data/large_de.msgpack.gz"))
    groups = msgpack.unpackb(packed)[1:]
    words = ((word.replace("ß", "ss"), rarity) for rarity, group in enumerate(groups) for word in group)
    # Of two spellings, the more frequent one comes last.
    return {word: rarity for word, rarity in reversed([*words]) if WORD.fullmatch(word)}


if __name__ == "__main__":
    main()
