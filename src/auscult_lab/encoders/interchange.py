"""Read and write bi-encoders in the format of sentence-transformers, without that package.

    passages/  modules.json                      Transformer, Pooling, and Normalize for cosines
               config.json, model.safetensors, tokenizer.json ...         as Hugging Face writes them
               1_Pooling/config.json, sentence_bert_config.json           pooling and where texts are cut
               config_sentence_transformers.json                          prompts, cosine or dot product

`SentenceTransformer("MODEL/passages")` then returns the bi-encoder's vectors of passages, and "MODEL/queries" those of
queries. A shared encoder is one folder, "passages", with both marks as prompts, which `encode_query` and
`encode_document` put before texts. (It then cuts queries at the limit of passages.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult_lab.encoders.base import TowersConfig
from auscult_lab.encoders.bi import BiConfig, BiEncoder
from auscult_lab.modules.backbone import Backbone, Pooling, find_file, open_backbone

MODULES = "modules.json"
_LENGTHS, _PROMPTS = "sentence_bert_config.json", "config_sentence_transformers.json"
# Names that versions 2 to 6 of the package understand.
_TYPES = ("Transformer", "Pooling", "Normalize")
_POOLINGS: dict[Pooling, str] = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}


def describe_encoder(folder: Path, backbone: Backbone, config: TowersConfig, tower: str) -> None:
    """Write the files of sentence-transformers beside a saved backbone; a tower is "passages" or "queries"."""
    types = _TYPES if config.cosine else _TYPES[:2]
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": f"{number}_{kind}" if number else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, kind in enumerate(types)
    ]
    for module in modules:
        (folder / str(module["path"])).mkdir(exist_ok=True)
    limit = config.max_passage_tokens if tower == "passages" else config.max_query_tokens
    prompts = {"query": config.before_query, "document": config.before_passage}
    pooling = {"word_embedding_dimension": backbone.dim}
    pooling |= {name: config.pooling == mode for mode, name in _POOLINGS.items()}
    pooling |= {"pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}
    described = {
        MODULES: modules,
        "1_Pooling/config.json": pooling,
        _LENGTHS: {"max_seq_length": min(limit, backbone.limit), "do_lower_case": False},
        _PROMPTS: {
            "prompts": prompts,
            "default_prompt_name": "document" if tower == "passages" else "query",
            "similarity_fn_name": "cosine" if config.cosine else "dot",
        },
    }
    for name, content in described.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def open_sentence_transformer(name_or_path: str) -> BiEncoder:
    """Open any sentence-transformers model as a bi-encoder: one encoder without marks, its own pooling and prompts.

    Args:
        name_or_path: A folder or a hub name.

    Raises:
        ModelError: There is none, or it has parts that are neither a transformer, CLS or mean pooling, nor scaling to
            unit length.
        MissingExtraError: The package that opens transformers is not installed.
    """
    modules = _read(name_or_path, MODULES)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        remedy = "give a folder with a modules.json, or a hub name on a machine with a network"
        raise ModelError("a sentence-transformers model", repr(name_or_path), remedy)
    paths = {str(module.get("type")).rpartition(".")[2]: str(module.get("path", "")) for module in modules}
    if not {"Transformer", "Pooling"} <= set(paths) <= set(_TYPES):
        expected = f"a sentence-transformers model of {', '.join(_TYPES)}"
        raise ModelError(expected, f"{', '.join(paths)} in {name_or_path!r}", "choose another model")
    inner = paths["Transformer"]
    if inner and not Path(name_or_path).is_dir():
        expected = "a hub model with its transformer at the top"
        raise ModelError(expected, f"{name_or_path!r} with it in '{inner}'", "download it and give its folder")
    backbone = open_backbone(str(Path(name_or_path) / inner) if inner else name_or_path)
    prompts = _fields(name_or_path, _PROMPTS)
    longest = _fields(name_or_path, f"{inner}/{_LENGTHS}".lstrip("/")).get("max_seq_length")
    limit = min(int(longest or backbone.limit), backbone.limit)
    config = BiConfig(
        shared=True,
        mark=False,
        pooling=_pooling(name_or_path, _fields(name_or_path, f"{paths['Pooling']}/config.json")),
        # The package's default is cosine.
        cosine="Normalize" in paths or (prompts.get("similarity_fn_name") or "cosine") == "cosine",
        max_query_tokens=limit,
        max_passage_tokens=limit,
        query_prompt=_prompt(prompts, "query"),
        passage_prompt=_prompt(prompts, "document", "passage"),
    )
    return BiEncoder(config, backbone)


def _pooling(name: str, described: Mapping[str, Any]) -> Pooling:
    """Return the pooling. Versions of the package write it as a flag for each mode, or as the modes' names."""
    on = [key for key, value in described.items() if key.startswith("pooling_mode_") and value is True]
    modes = described.get("pooling_mode", on)
    for pooling, flag in _POOLINGS.items():
        if modes in (pooling, [pooling], [flag]):
            return pooling
    raise ModelError("cls or mean pooling", f"{modes or 'none'} in {name!r}", "choose another model")


def _prompt(described: Mapping[str, Any], *names: str) -> str:
    prompts: dict[str, str] = described.get("prompts") or {}
    default = described.get("default_prompt_name") or ""
    return next((prompts[name] for name in (*names, default) if name in prompts), "")


def _fields(name_or_path: str, file: str) -> Mapping[str, Any]:
    fields = _read(name_or_path, file)
    return fields if isinstance(fields, dict) else {}


def _read(name_or_path: str, file: str) -> object:
    """Return a JSON file of a model; None where it has none."""
    path = find_file(name_or_path, file)
    if path is None:
        return None
    try:
        content: object = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"a readable {file}", f"{path} ({error})", "copy the model again") from error
    return content
