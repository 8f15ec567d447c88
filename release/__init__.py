"""How a release is made: built, checked, installed as a user would, tried, and listed.

    make release

Writes to `dist/`: the wheel, the source distribution, the licences of all that comes with them (`licences.csv`), a
bill of materials (CycloneDX, `sbom.json`), the checksums of these files, and what was tried (`release.json`). It signs
nothing: whoever publishes a release signs it.
"""
