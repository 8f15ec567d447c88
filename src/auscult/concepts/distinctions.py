"""What tells two names apart that look alike: numbers, letters, and words that exclude each other."""

from __future__ import annotations

# Of one line, a name can be only one.
_CONTRASTS = tuple(
    frozenset(line.split())
    for line in """
        acute chronic subacute
        benign malignant
        dominant recessive
        adult juvenile infantile neonatal childhood
        left right
        primary secondary tertiary
        congenital acquired
        male female
        upper lower
        alpha beta gamma delta epsilon
        proximal distal
        anterior posterior
        internal external
        systemic localized
        bacterial viral fungal
        typical atypical
        mild moderate severe
        early late
        open closed
        simple complex
        large small
        dry wet
        central peripheral
        motor sensory
        arterial venous
        systolic diastolic
        ischemic hemorrhagic
        hot cold
    """.strip().splitlines()
)
_CONTRAST_OF = {word: number for number, group in enumerate(_CONTRASTS) for word in group}
_PREFIX_CONTRASTS = (("hypo", "hyper"), ("micro", "macro"), ("brady", "tachy"), ("mono", "poly"))


def designators(key: str) -> tuple[str, ...]:
    """The numbers and letters that tell siblings apart, sorted: ("11",) of "spastic paraplegia type 11".

    Any word with a digit and any single letter counts, so a name may never be matched to one with others.
    """
    return tuple(sorted(word for word in key.split() if len(word) == 1 or any(char.isdigit() for char in word)))


def contrasts(key: str) -> frozenset[tuple[int, str]]:
    """The words of a key that exclude others: (group, member) pairs such as hypo/hyper or acute/chronic."""
    words = key.split()
    found = {(_CONTRAST_OF[word], word) for word in words if word in _CONTRAST_OF}
    for number, pair in enumerate(_PREFIX_CONTRASTS, start=len(_CONTRASTS)):
        found.update((number, prefix) for prefix in pair for word in words if word.startswith(prefix))
    return frozenset(found)


def contradict(first: frozenset[tuple[int, str]], second: frozenset[tuple[int, str]]) -> bool:
    """Whether two sets of contrasts speak of one group but share no member of it."""
    groups = {group for group, _ in first} & {group for group, _ in second}
    return any(not {m for g, m in first if g == group} & {m for g, m in second if g == group} for group in groups)
