"""The families of models that can be trained: their table, adapting, and writing a model in another form."""
