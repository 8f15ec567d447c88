"""`auscult mcp`: answers for language models, which may cite the sentences that exist and no others."""
