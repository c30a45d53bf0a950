"""The bundled image-to-shape model: three networks in one safetensors file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from seed3d.geometry.autoencoder import BlockAutoencoder
from seed3d.geometry.dit import ShapeDiT
from seed3d.geometry.head import PhotoHead

PARTS = {"autoencoder": BlockAutoencoder, "dit": ShapeDiT, "head": PhotoHead}


@dataclass(frozen=True)
class ShapeModel:
    """Everything between a photo's features and a TSDF grid."""

    autoencoder: BlockAutoencoder
    dit: ShapeDiT
    head: PhotoHead
    shift: float
    """Time shift of the flow's schedule, as trained."""


def export_model(model: ShapeModel, path: Path, about: str) -> None:
    """Write half-precision weights with every configuration inside the file."""
    from seed3d.checkpoints import save_state

    tensors: dict[str, torch.Tensor] = {}
    configs: dict[str, Any] = {"shift": model.shift}
    for name in PARTS:
        part = getattr(model, name)
        tensors |= {f"{name}.{k}": v for k, v in part.state_dict().items()}
        configs[name] = {k: v for k, v in part.config.items() if not k.startswith("_")}
    save_state(path, tensors, configs, about)


@lru_cache(maxsize=2)
def load_model(name: str, device: str = "cpu") -> ShapeModel:
    """Load a bundled model by its name in the manifest; strict, float32, evaluation mode.

    Raises:
        CheckpointError: The file is missing, damaged or of another model.
    """
    from seed3d.checkpoints import load_state, load_strict

    state, config = load_state(name)
    parts = {}
    for part, kind in PARTS.items():
        own = {k.removeprefix(part + "."): v for k, v in state.items() if k.startswith(part + ".")}
        module = kind(**config[part])
        load_strict(module, own, f"{name}/{part}")
        parts[part] = module.float().eval().requires_grad_(False).to(device)
    return ShapeModel(shift=float(config["shift"]), **parts)


def pick_device(name: str) -> str:
    """Resolve "auto" to cuda where there is one, else cpu."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name
