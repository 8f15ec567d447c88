"""Attacks on an audit log, each with who has to notice: the service that starts, `audit verify`, or the witness alone.

The log is of two days and several files. The attacker has the disk while no service runs, knows the code, and has the
key or not. The witness' file is out of reach.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from auscult.errors import ConfigError, DataError
from auscult_service.audit import AuditLog, now, to_line
from auscult_service.audit_files import FIRST, GAP, all_files_of, files_of, following, verify
from auscult_service.audit_heads import Head, Witness, head_of, read_kept

KEY: Final = b"k" * 32
HOSTILE_HEADS: Final[Mapping[str, bytes]] = {
    "a list": b"[]",
    "nothing": b"",
    "null": b"null",
    "a number": b"7",
    "no JSON": b"{]",
    "nested": b"[" * 4000,
    "nested far": b'{"seq":' + b"[" * 200_000,
    "huge": b'{"seq": 1, "hash": "' + b"0" * 5_000_000 + b'"}',
    "a huge number": b'{"seq": 1' + b"0" * 3000 + b"}",
    "NaN": b'{"seq": NaN, "hash": "x"}',
    "true": b'{"seq": true, "hash": "' + b"0" * 64 + b'", "at": ""}',
    "a negative number": b'{"seq": -1, "hash": "' + b"0" * 64 + b'", "at": ""}',
    "half a number": b'{"seq": 1.0, "hash": "' + b"0" * 64 + b'", "at": ""}',
    "another hash": b'{"seq": 1, "hash": [], "at": ""}',
    "another seal": b'{"seq": 1, "hash": "' + b"0" * 64 + b'", "at": "", "seal": {}}',
    "another field": b'{"seq": 1, "hash": "' + b"0" * 64 + b'", "at": "", "x": 1}',
    "no UTF-8": b'{"seq": "\xff\xfe"}',
    "a lone surrogate": b'{"seq": 1, "hash": "' + b"0" * 64 + b'", "at": "", "seal": "\\ud800"}',
}


@dataclass(frozen=True)
class Place:
    """A log and what knows of it.

    Attributes:
        key: The log's; None for none.
        attackers_key: The attacker's; None for none.
    """

    folder: Path
    key: bytes | None
    attackers_key: bytes | None = None

    @property
    def log(self) -> Path:
        return self.folder / "log" / "audit.jsonl"

    @property
    def counter(self) -> Path:
        return self.folder / "data" / "audit.counter"

    @property
    def witness(self) -> Path:
        return self.folder / "witness.jsonl"

    @property
    def yesterday(self) -> Path:
        return self.folder / "yesterday"

    def opened(self, witness: Witness | None = None) -> AuditLog:
        return AuditLog(self.log, self.key, counter=self.counter, witness=witness, rotate=1_500)

    def write(self, number: int, witness: Witness | None = None) -> None:
        """Start, add records, and stop."""
        log = self.opened(witness)
        try:
            for n in range(number):
                log.write({"who": f"w{n}", "action": "search", "documents": ["leaflet-gout"]}).result(5)
        finally:
            log.close()

    def start_says(self, *, witnessed: bool = False) -> str:
        """Return why a service does not start; empty where it does."""
        try:
            self.opened(Witness(str(self.witness), 60) if witnessed else None).close()
        except ConfigError as error:
            return f"{error.got}; {error.remedy}"
        return ""

    def verify_says(self, *, witnessed: bool = False) -> str:
        """Return what `audit verify` says; empty where it says that all is whole."""
        try:
            kept = read_kept(self.witness) if witnessed else []
            found = verify(self.log, self.key, counter=self.counter, kept=kept)
        except DataError as error:
            return error.got
        return found.problem or found.gap

    def lines(self) -> list[bytes]:
        return b"".join(each.read_bytes() for each in files_of(self.log)).splitlines()

    def put(self, lines: list[bytes]) -> None:
        """Write lines into as many files as there were, each of its old length as far as they reach."""
        sizes = [path.read_bytes().count(b"\n") for path in files_of(self.log)]
        sizes[-1] += max(0, len(lines) - sum(sizes))
        for number, size in enumerate(sizes, 1):
            now_, lines = lines[:size], lines[size:]
            following(self.log, number).write_bytes(b"".join(line + b"\n" for line in now_))
            if not now_ and number > 1:
                following(self.log, number).unlink()

    def chained(self, records: list[dict[str, Any]]) -> list[bytes]:
        """Write a chain anew, as well as the attacker can."""
        before, lines = FIRST.hash, []
        for seq, record in enumerate(records, 1):
            bare = {name: value for name, value in record.items() if name not in ("seq", "previous", "seal")}
            line = to_line({"seq": seq, **bare, "previous": before}, self.attackers_key)
            if self.attackers_key is None and "seal" in record:
                line = json.dumps({**json.loads(line), "seal": record["seal"]}).encode()
            before = hashlib.sha256(line).hexdigest()
            lines.append(line)
        return lines

    def forge_heads(self, *, counter: bool = True) -> None:
        """Write head and counter that fit the log, as well as the attacker can."""
        lines = self.lines()
        digest = hashlib.sha256(lines[-1]).hexdigest() if lines else FIRST.hash
        head = Head(json.loads(lines[-1])["seq"] if lines else 0, digest, now()).sealed(self.attackers_key)
        for place in (head_of(self.log), *([self.counter] if counter else [])):
            place.write_text(head.to_json())

    def put_back(self, *, log: bool, head: bool, counter: bool) -> None:
        """Put files of yesterday in place of today's."""
        if log:
            for each in all_files_of(self.log):
                each.unlink()
            for each in all_files_of(self.yesterday / "log" / self.log.name):
                shutil.copy(each, self.log.parent)
        if head:
            shutil.copy(head_of(self.yesterday / "log" / self.log.name), head_of(self.log))
        if counter:
            shutil.copy(self.yesterday / "data" / self.counter.name, self.counter)


def made(folder: Path, key: bytes | None) -> Place:
    """Return a log of two days, with what was there after the first."""
    folder.mkdir(parents=True)
    place = Place(folder, key)
    for records in (9, 11):
        if place.log.exists():
            for each in ("log", "data"):
                shutil.copytree(folder / each, place.yesterday / each)
        place.write(records, Witness(str(place.witness), 3600))
    return place


def _cut(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    place.put(lines[: chance.randrange(len(lines))])


def _cut_without_head(place: Place, chance: random.Random) -> None:
    _cut(place, chance)
    head_of(place.log).unlink()


def _cut_with_forged_head(place: Place, chance: random.Random) -> None:
    _cut(place, chance)
    place.forge_heads(counter=False)


def _cut_with_forged_heads(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    place.put(lines[: chance.randrange(1, len(lines))])
    place.forge_heads()


def _cut_without_heads(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    place.put(lines[: chance.randrange(1, len(lines))])
    head_of(place.log).unlink()
    place.counter.unlink()


def _edit(place: Place, chance: random.Random) -> None:
    file = chance.choice(files_of(place.log))
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content) - 1)] ^= 1 << chance.randrange(7)
    file.write_bytes(content)


def _edit_in_the_last_file(place: Place, chance: random.Random) -> None:
    file = files_of(place.log)[-1]
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content) - 1)] ^= 1 << chance.randrange(7)
    file.write_bytes(content)


def _edit_and_chain(place: Place, chance: random.Random) -> None:
    records = [json.loads(each) for each in place.lines()]
    chance.choice(records)["who"] = "nobody"
    place.put(place.chained(records))
    place.forge_heads()


def _reorder(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    one, other = chance.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    place.put(lines)


def _reorder_and_chain(place: Place, chance: random.Random) -> None:
    records = [json.loads(each) for each in place.lines()]
    one, other = chance.sample(range(len(records)), 2)
    records[one], records[other] = {**records[other], "who": "x"}, records[one]
    place.put(place.chained(records))
    place.forge_heads()


def _delete(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    del lines[chance.randrange(len(lines))]
    place.put(lines)


def _delete_and_chain(place: Place, chance: random.Random) -> None:
    records = [json.loads(each) for each in place.lines()]
    del records[chance.randrange(len(records))]
    place.put(place.chained(records))
    place.forge_heads()


def _delete_a_file(place: Place, chance: random.Random) -> None:
    chance.choice(files_of(place.log)).unlink()


def _delete_a_file_and_close_up(place: Place, chance: random.Random) -> None:
    files = files_of(place.log)
    gone = chance.randrange(len(files))
    files[gone].unlink()
    for number in range(gone + 1, len(files)):
        files[number].rename(files[number - 1])


def _delete_last_files_with_forged_head(place: Place, chance: random.Random) -> None:
    files = files_of(place.log)
    for each in files[chance.randrange(1, len(files)) :]:
        each.unlink()
    place.forge_heads(counter=False)


def _swap_files(place: Place, chance: random.Random) -> None:
    one, other = chance.sample(files_of(place.log), 2)
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


def _delete_the_log(place: Place, _: random.Random) -> None:
    shutil.rmtree(place.log.parent)


def _delete_everything(place: Place, _: random.Random) -> None:
    shutil.rmtree(place.log.parent)
    shutil.rmtree(place.counter.parent)


def _forge_a_record(place: Place, chance: random.Random) -> None:
    lines = place.lines()
    at = chance.randrange(len(lines))
    record = {"seq": at + 1, "who": "x", "previous": json.loads(lines[at])["previous"]}
    place.put([*lines[:at], to_line(record, place.attackers_key), *lines[at:]])


def _forge_the_log(place: Place, chance: random.Random) -> None:
    place.put(place.chained([{"who": "x", "action": "search"} for _ in range(chance.randrange(20, 40))]))
    place.forge_heads()


def _forge_a_gap(place: Place, _: random.Random) -> None:
    for each in all_files_of(place.log):
        each.unlink()
    record = {"seq": 40, "at": now(), "action": GAP, "reason": "a disk", "previous": FIRST.hash}
    place.log.write_bytes(to_line(record, place.attackers_key) + b"\n")
    place.forge_heads()


def _forge_behind_the_end(place: Place, _: random.Random) -> None:
    lines = place.lines()
    digest = hashlib.sha256(lines[-1]).hexdigest()
    place.put([*lines, to_line({"seq": len(lines) + 1, "who": "x", "previous": digest}, place.attackers_key)])
    place.forge_heads()


def _put_back(**what: bool) -> Callable[[Place, random.Random], None]:
    def attack(place: Place, _: random.Random) -> None:
        place.put_back(**what)

    return attack


def _put_back_and_go_on(place: Place, _: random.Random) -> None:
    place.put_back(log=True, head=True, counter=True)
    place.write(15)


@dataclass(frozen=True)
class Attack:
    """One way to harm a log.

    Attributes:
        noticed_by: Who has to notice where the attacker cannot seal: "start" (and verify), "verify" alone, or
            "witness" alone (at the start, too).
        with_seal: The same where the attacker can seal, as nothing is sealed or the key is theirs.
        chance: Whether it differs from one time to the other.
    """

    name: str
    harm: Callable[[Place, random.Random], None]
    noticed_by: str
    with_seal: str
    chance: bool = True


ATTACKS: Final = (
    Attack("cut", _cut, "start", "start"),
    Attack("cut, head deleted", _cut_without_head, "start", "start"),
    Attack("cut, head forged", _cut_with_forged_head, "start", "start"),
    Attack("cut, head and counter forged", _cut_with_forged_heads, "start", "witness"),
    Attack("cut, head and counter deleted", _cut_without_heads, "start", "start"),
    Attack("edit", _edit, "verify", "verify"),
    Attack("edit in the last file", _edit_in_the_last_file, "start", "start"),
    Attack("edit, all written anew", _edit_and_chain, "start", "witness"),
    Attack("reorder", _reorder, "verify", "verify"),
    Attack("reorder, all written anew", _reorder_and_chain, "start", "witness"),
    Attack("delete a record", _delete, "verify", "verify"),
    Attack("delete a record, all written anew", _delete_and_chain, "start", "witness"),
    Attack("delete a file", _delete_a_file, "start", "start"),
    Attack("delete a file, others renamed", _delete_a_file_and_close_up, "start", "start"),
    Attack("delete the last files, head forged", _delete_last_files_with_forged_head, "start", "start"),
    Attack("swap files", _swap_files, "start", "start"),
    Attack("delete log and head", _delete_the_log, "start", "start", False),
    Attack("delete log, head and counter", _delete_everything, "witness", "witness", False),
    Attack("forge a record", _forge_a_record, "verify", "verify"),
    Attack("forge the whole log", _forge_the_log, "start", "witness"),
    Attack("forge a gap", _forge_a_gap, "start", "verify", False),
    Attack("put back the log", _put_back(log=True, head=False, counter=False), "start", "start", False),
    Attack("put back log and head", _put_back(log=True, head=True, counter=False), "start", "start", False),
    Attack("put back log, head and counter", _put_back(log=True, head=True, counter=True), "witness", "witness", False),
    Attack("put back all, go on", _put_back_and_go_on, "witness", "witness", False),
)  # fmt: skip
FORGED_BEHIND_THE_END: Final = Attack("forge behind the end", _forge_behind_the_end, "start", "nobody", False)


def matrix(folder: Path, times: int = 1, seed: int = 0) -> Iterator[tuple[str, str, str, bool]]:
    """Run every attack on logs with and without a key, by attackers with and without it.

    Yields:
        Kind of log and attacker, the attack, who had to notice, and whether they did.
    """
    chance = random.Random(seed)
    for kind, key, attackers in (
        ("sealed", KEY, None),
        ("sealed, key stolen", KEY, KEY),
        ("without a key", None, None),
    ):
        whole = made(folder / kind, key)
        assert not whole.verify_says(witnessed=True), whole.verify_says(witnessed=True)
        for attack in (*ATTACKS, *([FORGED_BEHIND_THE_END] if kind == "sealed" else [])):
            for n in range(times if attack.chance else 1):
                place = Place(folder / f"{kind}, {attack.name}, {n}", key, attackers)
                shutil.copytree(whole.folder, place.folder)
                attack.harm(place, chance)
                by = attack.with_seal if key == attackers else attack.noticed_by
                yield kind, attack.name, by, _noticed(place, by)
                shutil.rmtree(place.folder)


def _noticed(place: Place, by: str) -> bool:
    witnessed = place.verify_says(witnessed=True) and place.start_says(witnessed=True)
    if by == "witness":
        # A start without the witness comes last: it goes on with the log.
        return bool(witnessed and not place.start_says())
    if by == "verify":
        return bool(place.verify_says())
    return bool(witnessed and place.verify_says() and place.start_says())


def counted(folder: Path, times: int, seed: int = 0) -> dict[str, float | int | str]:
    """Return how many attacks were noticed by whom; those by nobody are an AssertionError."""
    by_whom: Counter[str] = Counter()
    missed = []
    for kind, name, by, noticed in matrix(folder, times, seed):
        by_whom[by] += 1
        if not noticed:
            missed.append(f"{name} ({kind}): not by {by}")
    assert not missed, missed
    return {
        "kinds of attack": len(ATTACKS) + 1,
        "attacks": by_whom.total(),
        "noticed by the service that starts": by_whom["start"],
        "noticed by verify": by_whom["verify"],
        "noticed by the witness alone": by_whom["witness"],
        "not noticed": len(missed),
    }
