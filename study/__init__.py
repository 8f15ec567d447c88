"""What writes this project's pages of results: its own study of five papers, outside the package."""
