"""The workbench: a user's own questions, passages and judgements, the models that fit them, and a report to look at."""
