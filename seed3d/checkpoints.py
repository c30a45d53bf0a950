"""Weight files: safetensors only, listed in checkpoints/manifest.yaml, verified by SHA-256.

A file carries its own description (configuration, licence, source) in one JSON metadata entry,
so that it can be loaded with no other file at hand. Weights are float16 on disk where that's enough.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed3d.config import data_dir
from seed3d.errors import CheckpointError, near_miss

if TYPE_CHECKING:
    from torch import Tensor, nn

MANIFEST = "manifest.yaml"
# One entry, because safetensors doesn't keep the order of several: same input, same bytes.
METADATA_KEY = "seed3d"


@dataclass(frozen=True)
class ModelInfo:
    """One row of the manifest."""

    name: str
    file: str
    """File name, beside the manifest."""
    bytes: int
    sha256: str
    licence: str
    source: str
    """Where the weights come from: project, package or training script."""
    trained_on: str
    score: str
    """A measured number with what was measured, in words."""


def list_models(folder: Path | None = None) -> list[ModelInfo]:
    """Return all models of the manifest in `folder` (default: the shipped one), by name.

    Raises:
        CheckpointError: The manifest is missing, or an entry lacks a key or has an unknown one.
    """
    path = _manifest_path(folder)
    if not path.is_file():
        raise CheckpointError(
            f"no weight manifest at {path}; wanted the file that ships with Seed3D."
            " Reinstall seed3d, or run from a complete checkout"
        )
    return [_info(name, entry, path) for name, entry in sorted(_read_manifest(path).items())]


def load_state(name: str, folder: Path | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Load a model's weights.

    Args:
        name: A name in the manifest; or the path of a `.safetensors` file of your own, which is
            read without a check of its SHA-256.
        folder: Folder of manifest and weights; default: the shipped one.

    Returns:
        The state dict (floating-point tensors as float32, on the CPU) and the configuration the
        file was saved with.

    Raises:
        CheckpointError: No such model; a missing, damaged or foreign file.
    """
    if name.endswith(".safetensors"):
        path = Path(name)
        if not path.is_file():
            raise CheckpointError(f"no weight file {name!r}; give the path of a file that exists")
        return _read(path.read_bytes(), name)
    info = model_info(name, folder)
    path = _manifest_path(folder).parent / info.file
    if not path.is_file():
        raise CheckpointError(
            f"model {name!r}: weight file {path} is missing; wanted {info.bytes} bytes."
            " Restore it from the repository (`git checkout checkpoints/`) or reinstall seed3d"
        )
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != info.sha256:
        raise CheckpointError(
            f"model {name!r}: {path} is damaged or was replaced: got SHA-256 {digest[:12]}..."
            f" ({len(data)} bytes), wanted {info.sha256[:12]}... ({info.bytes} bytes). Restore it,"
            " or run scripts/update_manifest.py if you replaced it on purpose"
        )
    return _read(data, name)


def model_info(name: str, folder: Path | None = None) -> ModelInfo:
    """Return the manifest's row of a model.

    Raises:
        CheckpointError: No such model; the message names the nearest one.
    """
    models = {info.name: info for info in list_models(folder)}
    if name not in models:
        raise CheckpointError(f"no model {name!r}.{near_miss(name, models)}")
    return models[name]


def load_strict(module: nn.Module, state: dict[str, Tensor], name: str) -> nn.Module:
    """Load `state` into `module` with no key missing, left over or of another shape.

    Returns:
        The module, in evaluation mode.

    Raises:
        CheckpointError: The weights belong to another model.
    """
    try:
        module.load_state_dict(state, strict=True)
    except RuntimeError as error:
        raise CheckpointError(
            f"model {name!r}: its weights don't fit {type(module).__name__}: {error}."
            " Use the weight file and the code of the same version"
        ) from error
    return module.eval()


def save_state(
    path: Path, state: dict[str, Tensor], config: dict[str, Any], about: str, *, half: bool = True
) -> None:
    """Write a weight file with its description.

    Args:
        path: File to write, `.safetensors`.
        state: State dict of a module.
        config: What the module is built from; plain data, returned by `load_state`.
        about: Licence and source, for whoever finds the file alone.
        half: Store floating-point tensors as float16, else as they are.

    Raises:
        CheckpointError: A weight is not finite or too large for float16.
    """
    import torch
    from safetensors.torch import save

    stored = {}
    for key, value in state.items():
        value = value.detach().cpu()
        stored[key] = (value.half() if half and value.is_floating_point() else value).contiguous()
        if value.is_floating_point() and not bool(torch.isfinite(stored[key]).all()):
            raise CheckpointError(
                f"{path}: weight {key!r} is not finite as {stored[key].dtype} (largest magnitude"
                f" {float(value.abs().max()):g}; float16 ends at 65504); rescale it before saving"
            )
    described = json.dumps({"config": config, "about": about}, sort_keys=True)
    path.write_bytes(save(stored, metadata={METADATA_KEY: described}))


def register(
    file: Path, name: str, *, licence: str, source: str, trained_on: str, score: str
) -> ModelInfo:
    """Add or replace the entry of `file` in the manifest beside it.

    Args:
        file: The weight file, as `save_state` wrote it.
        name: Name by which `load_state` finds it.
        licence: SPDX name of the weights' licence.
        source: Project, package or training script they come from.
        trained_on: Data they were trained on.
        score: A measured number with what was measured.

    Raises:
        CheckpointError: The file is missing or no weight file of this project.
    """
    import yaml

    if not file.is_file():
        raise CheckpointError(f"no weight file {str(file)!r} to register")
    data = file.read_bytes()
    _read(data, str(file))
    digest = hashlib.sha256(data).hexdigest()
    info = ModelInfo(name, file.name, len(data), digest, licence, source, trained_on, score)
    path = file.parent / MANIFEST
    entries = _read_manifest(path) if path.is_file() else {}
    entry = asdict(info)
    entries[entry.pop("name")] = entry
    path.write_text(yaml.safe_dump(entries, sort_keys=True, width=98), encoding="utf-8")
    return info


def _manifest_path(folder: Path | None) -> Path:
    return (folder or data_dir("checkpoints")) / MANIFEST


def _read_manifest(path: Path) -> dict[str, Any]:
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8")) or {}


def _info(name: str, entry: dict[str, Any], path: Path) -> ModelInfo:
    wanted = {f.name for f in fields(ModelInfo)} - {"name"}
    if not isinstance(entry, dict) or set(entry) != wanted:
        raise CheckpointError(
            f"{path}: entry {name!r} has keys {sorted(entry)}; wanted {sorted(wanted)}."
            " Write it with scripts/update_manifest.py"
        )
    return ModelInfo(name=name, **entry)


def _read(data: bytes, name: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        state = load(data)
    except SafetensorError as error:
        raise CheckpointError(
            f"model {name!r}: not a readable safetensors file ({error}); wanted one written by"
            " seed3d.checkpoints.save_state. Restore it or convert it"
        ) from error
    described = _metadata(data).get(METADATA_KEY)
    if described is None:
        raise CheckpointError(
            f"model {name!r}: the file carries no {METADATA_KEY!r} metadata, so it's not a Seed3D"
            " model. Write it with seed3d.checkpoints.save_state"
        )
    state = {k: v.float() if v.is_floating_point() else v for k, v in state.items()}
    return state, json.loads(described)["config"]


def _metadata(data: bytes) -> dict[str, str]:
    # safetensors format: 8 bytes little-endian header length, then a JSON header.
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]).get("__metadata__", {})
