"""Make a release: build, check, install as users do, test, and record it.

    make release

Writes to `dist/`: wheels of the product with the lab, of the readers, of the engines and of the service, a source
distribution of all four, the licences of all that comes with them (`licences.csv`), a bill of materials (CycloneDX,
`sbom.json`), the checksums of these files, and the tests (`release.json`). It signs nothing: the publisher of a release
signs it.
"""
