"""Make a release: build, check, install as users do, test, and record it.

    make release

Writes to `dist/`: the wheel, the source distribution, wheels of the readers and of the engines alone, the licences of
all that comes with them (`licences.csv`), a bill of materials (CycloneDX, `sbom.json`), the checksums of these files,
and the tests (`release.json`). It signs nothing: the publisher of a release signs it.
"""
