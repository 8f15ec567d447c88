"""The general encoder's training: a teacher reads, tokens learn to read as it does, towers learn from headings."""
