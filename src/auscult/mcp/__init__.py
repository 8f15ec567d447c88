"""Tools for language models over the Model Context Protocol. Every sentence has an id that can be cited."""
