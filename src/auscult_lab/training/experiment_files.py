"""Experiment files: YAML with optional bases and variants.

    base: OTHER.yaml                      # the file with all other fields; a path from this one's folder
    published: { table: wang2021_table2 } # the published figures that its models stand beside
    track: adapted                        # fields that all variants share
    variants:
      ck-adapted-drmm-tks:                # name of the variant and of its run
        title: DRMM-TKS
        published: { row: DRMMTKS }
        settings: { head: drmm-tks }
      ck-adapted-drmm-tks-w:
        base: ck-adapted-drmm-tks         # another variant of the file, with all other fields
        title: DRMM-TKS-W
        compare_with: [ck-adapted-drmm-tks]   # planned comparisons
        published: { row: DRMMTKS-W }
        settings: { knowledge: $AUSCULT_GENERAL_GRAPH }

A file without `variants` is one experiment, with a `name`; in a file with variants, each FILE:VARIANT is one. Its
fields are merged with those of its base: nested fields one by one, everything else replaced. A file with variants can
be a base, with the fields that the variants share; so can FILE:VARIANT.

`published` is for readers, `compare_with` for comparisons. They are no settings: they are not part of any experiment or
training record, and are not inherited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from auscult.errors import ConfigError
from auscult.files.json_text import MOST_LEVELS, nested_more_than

_DEEPEST = 8
#: What is wrong with a field, by pydantic's name, where its own words are hard to read.
_FAULTS = {"missing": "missing", "extra_forbidden": "unknown field"}
_Kind = TypeVar("_Kind", bound=BaseModel)
_Fields = dict[str, object]


class Published(BaseModel):
    """Published figures for comparison with a model.

    Attributes:
        table: Name of a file in `auscult_lab/evaluation/published/`: "wang2021_table2".
        row: Name of the model there; None where it has no row.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str = Field(min_length=1)
    row: str | None = None


def experiments_in(path: Path) -> list[Path]:
    """Return all experiments of a file, or of the files of a folder in the order of their names.

    Args:
        path: A file, one of its variants (FILE:VARIANT), or a folder.

    Returns:
        Paths for the readers of experiments; none for a folder without experiment files.

    Raises:
        ConfigError: A file is not readable as YAML with fields.
    """
    if path.is_dir():
        return [each for file in sorted(path.glob("*.yaml")) for each in experiments_in(file)]
    file, variant = _split_variant(path)
    variants = _variants(_parse(file), file)
    return [path] if variant is not None or variants is None else [variant_path(file, name) for name in variants]


def variant_path(file: Path, variant: str) -> Path:
    """Return the path of one of a file's variants: FILE:VARIANT."""
    return file.with_name(f"{file.name}:{variant}")


def read_model_name(path: Path) -> str:
    """Return the kind of model of an experiment; the default is "cdv".

    Raises:
        ConfigError: The file is not readable as YAML with fields, or has no such variant.
    """
    return str(_resolve(path).get("model", "cdv"))


def read_published(path: Path) -> Published | None:
    """Return the published figures for comparison with an experiment's model.

    Returns:
        The figures; their row is by default the model's title. None where the experiment names no figures.

    Raises:
        ConfigError: The file is not readable as YAML with fields, has no such variant, or the field is wrong.
    """
    fields = _resolve(path)
    figures = fields.get("published")
    if figures is None:
        return None
    published = check_fields(figures, Published, f"{path} with published")
    title = fields.get("title")
    return (
        published.model_copy(update={"row": title})
        if isinstance(figures, dict) and "row" not in figures and title
        else published
    )


def read_compared(path: Path) -> tuple[str, ...]:
    """Return the experiments with which an experiment is to be compared, as it is expected to be better.

    Returns:
        Their names; they need not be part of every comparison.

    Raises:
        ConfigError: The file is not readable as YAML with fields, has no such variant, or the field is wrong.
    """
    return _parse_compared(_resolve(path), path)


def _parse_compared(fields: _Fields, path: Path) -> tuple[str, ...]:
    said = fields.get("compare_with", [])
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise ConfigError("'compare_with' with names of experiments", f"{path} with {said!r}", "correct the field")
    return tuple(said)


def check_experiment(path: Path, kind: type[_Kind]) -> _Kind:
    """Read an experiment and check it against one kind.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    fields = _resolve(path)
    if (published := fields.pop("published", None)) is not None:
        check_fields(published, Published, f"{path} with published")
    _parse_compared(fields, path)
    fields.pop("compare_with", None)
    return check_fields(fields, kind, f"{path} with")


def with_fields(fields: Mapping[str, object], changes: Iterable[tuple[str, str]]) -> _Fields:
    """Return fields of an experiment, changed one by one.

    Args:
        fields: Fields, nested as in a file.
        changes: Pairs of a field's path, with dots between nested fields, and its new value as YAML.

    Raises:
        ConfigError: A value is not YAML, or a field is inside one that has no fields.
    """
    changed = dict(fields)
    for path, text in changes:
        *above, name = path.split(".")
        try:
            own: _Fields = {name: _read_value(yaml.SafeLoader(text))}
        except yaml.YAMLError as error:
            raise ConfigError("a value as in an experiment file", f"{path}={text}", "put it in quotes") from error
        for each in reversed(above):
            own = {each: own}
        changed = _merge(changed, own)
    return changed


def check_fields(fields: object, kind: type[_Kind], what: str) -> _Kind:
    """Check fields against one kind of experiment.

    Args:
        fields: Fields, nested as in a file.
        kind: The kind of experiment.
        what: What they are, for the error, such as "the experiment with".

    Raises:
        ConfigError: Naming every field that is wrong.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        faults = ", ".join(
            f"{'.'.join(map(str, each['loc'])) or 'file'} ({_FAULTS.get(each['type'], each['msg'])})"
            for each in error.errors()
        )
        raise ConfigError("a valid experiment", f"{what} {faults}", "correct these fields") from error


def _resolve(path: Path, depth: int = 0) -> _Fields:
    """Return all fields of an experiment; for a base (`depth` above 0), those that are inherited."""
    file, variant = _split_variant(path)
    own = _parse(file)
    variants = _variants(own, file)
    own.pop("variants", None)
    base = own.pop("base", None)
    if base is not None:
        if depth == _DEEPEST:
            raise ConfigError("a 'base' that ends", f"{file} and {depth} files below it", "remove the circle")
        own = _merge(_resolve(file.parent / str(base), depth + 1), own)
    if variant is not None:
        own = {**_merge(own, _variant(variants, variant, file)), "name": variant}
    elif variants is not None and not depth:
        remedy = f"choose one, as {variant_path(file, next(iter(variants)))} does: {', '.join(variants)}"
        raise ConfigError("one experiment", f"{file}, which has {len(variants)} variants", remedy)
    if depth:
        _forget(own)
    return own


def _variant(variants: Mapping[str, _Fields] | None, name: str, file: Path, depth: int = 0) -> _Fields:
    """Return the fields of a variant, merged with those of its bases."""
    if variants is None:
        raise ConfigError(f"a variant '{name}'", f"{file} without variants", "name the file alone")
    if name not in variants:
        raise ConfigError(f"a variant of {file}", f"'{name}'", f"choose one of {', '.join(variants)}")
    own = dict(variants[name])
    base = own.pop("base", None)
    if base is None:
        return own
    if depth == _DEEPEST:
        place = variant_path(file, name)
        raise ConfigError("a 'base' that ends", f"{place} and {depth} variants below it", "remove the circle")
    below = _variant(variants, str(base), file, depth + 1)
    _forget(below)
    return _merge(below, own)


def _forget(fields: _Fields) -> None:
    """Remove the fields that are not inherited."""
    for name in ("published", "compare_with"):
        fields.pop(name, None)


def _variants(fields: _Fields, file: Path) -> Mapping[str, _Fields] | None:
    """Return the variants of a file, by name; None where it is a single experiment."""
    if "variants" not in fields:
        return None
    variants: Any = fields["variants"]
    if not isinstance(variants, dict) or not variants or not all(isinstance(each, dict) for each in variants.values()):
        raise ConfigError("'variants' with fields by name", f"others in {file}", "give each a name, and {} at least")
    named = [str(file)] * ("name" in fields) + [f"{file}:{name}" for name, own in variants.items() if "name" in own]
    if named:
        raise ConfigError(
            "variants that are called by their keys alone", f"'name' in {', '.join(named)}", "leave it out"
        )
    return {str(name): own for name, own in variants.items()}


def _split_variant(path: Path) -> tuple[Path, str | None]:
    """Split FILE:VARIANT into the file and the variant."""
    name, colon, variant = path.name.rpartition(":")
    return (path.with_name(name), variant) if colon and name and not path.is_file() else (path, None)


def _parse(file: Path) -> _Fields:
    try:
        fields = deepcopy(_parse_text(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError("a readable YAML experiment file", _describe_error(file, error), "correct it") from error
    if not isinstance(fields, dict):
        raise ConfigError("a YAML experiment file of fields", f"{file} without any", "see experiments/ for examples")
    return fields


# Cached, because each variant of a file, and each file based on it, parses it again.
@lru_cache(maxsize=64)
def _parse_text(text: str) -> Any:
    return _read_value(_Loader(text))


def _describe_error(file: Path, error: Exception) -> str:
    """Return the file, where in it an error is, and what is wrong."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{file}, line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return f"{file}: {getattr(error, 'strerror', None) or ' '.join(str(error).split())}"


def _read_value(loader: yaml.SafeLoader) -> Any:
    """Parse the single document of a YAML text, with the same limit of nesting as for JSON.

    Raises:
        yaml.YAMLError: It is malformed, or nested more deeply.
    """
    try:
        value = loader.get_single_data()
    except RecursionError:
        value = None
    else:
        if not nested_more_than(MOST_LEVELS, value):
            return value
    raise yaml.YAMLError(f"nested more than {MOST_LEVELS} levels deep")


class _Loader(yaml.SafeLoader):
    """Loader of plain data that rejects duplicate keys: of two variants of one name, one would be lost."""

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        keys: set[str] = set()
        for key, _ in node.value:
            if key.value in keys:
                raise yaml.MarkedYAMLError(problem=f"'{key.value}' twice", problem_mark=key.start_mark)
            keys.add(key.value)
        return node


def _merge(base: Mapping[str, object], own: Mapping[str, object]) -> _Fields:
    """Return the base's fields with `own` fields on top; nested fields are merged, lists are replaced."""
    merged = dict(base)
    for name, value in own.items():
        below = merged.get(name)
        merged[name] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
