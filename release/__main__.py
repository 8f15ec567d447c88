"""`python -m release`: makes and checks the files of a release; see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release.building import build, check_contents, check_notes, check_written, project_version
from release.licences import bill_of_materials, licences_of, refused
from release.pythons import supported_pythons
from release.records import write_checksums, write_licences, write_record
from release.trying import EXTRAS, Environment, Trial, try_release

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Make a release.

    Returns:
        The exit status: 0 where everything works, 1 otherwise.
    """
    options = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the release (default: dist)")
    options.add_argument(
        "--extra", action="append", choices=EXTRAS, help="try only this extra; repeatable (default: all of them)"
    )
    options.add_argument(
        "--python", action="append", type=Path, help="try only this interpreter; repeatable (default: all supported)"
    )
    chosen = options.parse_args()
    version = project_version(ROOT)
    check_notes(ROOT, version)
    check_written(ROOT, version)
    wheels, source = build(ROOT, chosen.out)
    check_contents(wheels, source)
    pythons = chosen.python or supported_pythons()
    trials: list[Trial] = []
    packages: dict[str, tuple[str, str]] = {}
    for python in pythons:
        with Environment(python, wheels, ROOT / "constraints.txt") as environment:
            trials += try_release(environment, chosen.extra or EXTRAS)
            # List the packages of the first environment, which has all extras.
            if not packages:
                packages = licences_of(environment.python)
                write_licences(chosen.out / "licences.csv", packages)
                bill_of_materials(environment.python, ROOT / "pyproject.toml", chosen.out / "sbom.json")
    write_record(chosen.out / "release.json", version, trials)
    write_checksums(chosen.out)
    failed = [each for each in trials if not each.works]
    for each in failed:
        print(f"{each.what} on Python {each.python}: {each.problem}", file=sys.stderr)
    bad = refused(packages)
    for name, licence in bad.items():
        print(f"{name} has the licence {licence}, which a release may not bring along", file=sys.stderr)
    print(f"auscult {version}: {len(trials) - len(failed)} of {len(trials)} trials work; the files are in {chosen.out}")
    return 1 if failed or bad else 0


if __name__ == "__main__":
    sys.exit(main())
