"""DINOv2-large as the photo encoder of the published models, through `transformers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from seed3d.errors import CheckpointError, MissingDependencyError

NAME, FILE = "dinov2-large", "model.safetensors"
RESIZED, CROPPED = 256, 224
"""Shortest side before the centre crop, and side of the crop [pixel]."""
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet, as the encoder was trained."""
LARGE = {
    "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
    "image_size": 518, "patch_size": 14,
}  # fmt: skip
"""ViT-L/14 (arXiv:2304.07193, table 17)."""


def load_dinov2(folder: Path, device: str = "cpu", config: dict[str, Any] | None = None) -> Any:
    """The encoder from a folder with model.safetensors: frozen, float32, evaluation mode.

    Args:
        folder: Where the weights are.
        device: cpu or cuda.
        config: Options of transformers' Dinov2Config; ViT-L/14 where None.

    Raises:
        MissingDependencyError: `transformers` isn't installed.
        CheckpointError: The weights are of another model.
    """
    try:
        from transformers import Dinov2Config, Dinov2Model
    except ImportError as error:
        raise MissingDependencyError(
            "the published models need the package transformers, which isn't installed. Install it"
            " with: pip install 'seed3d[open-weights]'"
        ) from error
    options: dict[str, Any] = dict(config or LARGE)
    loaded: Any = Dinov2Model.from_pretrained(
        folder, config=Dinov2Config(**options), output_loading_info=True, local_files_only=True
    )
    model, found = loaded
    wrong = {k: sorted(v) for k, v in found.items() if k.endswith("_keys") and v}
    if wrong:
        raise CheckpointError(
            f"{folder / FILE}: not the weights of {NAME}: {wrong}. Fetch them again with:"
            f" seed3d weights fetch {NAME}"
        )
    return model.float().eval().requires_grad_(False).to(device)


def pixels(rgb: np.ndarray) -> torch.Tensor:
    """A square photo (S, S, 3) in [0, 1] on white to the encoder's input (1, 3, 224, 224)."""
    image = torch.from_numpy(np.ascontiguousarray(rgb, np.float32)).permute(2, 0, 1)[None]
    size = (RESIZED, RESIZED)
    image = functional.interpolate(image, size, mode="bicubic", antialias=True).clamp(0, 1)
    edge = (RESIZED - CROPPED) // 2
    image = image[..., edge : edge + CROPPED, edge : edge + CROPPED]
    return (image - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


@torch.no_grad()
def photo_tokens(rgb: np.ndarray, model: Any) -> torch.Tensor:
    """Tokens (1, 257, 1024) of a photo on white: class token, then patches row by row."""
    device = next(model.parameters()).device
    return model(pixels(rgb).to(device)).last_hidden_state
