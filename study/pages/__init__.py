"""The pages: tables in Markdown, made from records."""
