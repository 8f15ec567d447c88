"""Make a release: build, check, install as users do, test, and record it.

    make release

Writes to `dist/`: wheels of the product with the lab, of the readers and of the engines, a source distribution of all
three, the licences of all that comes with them (`licences.csv`), a bill of materials (CycloneDX, `sbom.json`), the
checksums of these files, and the tests (`release.json`). It signs nothing: the publisher of a release signs it.
"""
