"""The photo's pixels as the paint stage wants them: without light where a model can take it off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seed3d.config import TextureConfig
from seed3d.conventions import srgb_to_linear
from seed3d.errors import CheckpointError
from seed3d.types import Fallback, Subject

if TYPE_CHECKING:
    from seed3d.texture.models.completion import CompletionNet


@dataclass(frozen=True)
class PhotoLayers:
    """What is projected from the photo."""

    values: np.ndarray
    """(S, S, C) float32: linear colour; where C is 5, also roughness and metallic."""
    lit: bool
    """The colour still holds the photo's light."""
    fallbacks: tuple[Fallback, ...] = ()


def photo_layers(subject: Subject, config: TextureConfig) -> PhotoLayers:
    """Decompose the photo as `config.albedo` asks.

    ``auto`` takes the model where its weights are there, else records a fallback and leaves the
    light to the simple removal; ``model`` insists.

    Args:
        subject: The prepared photo.
        config: `albedo` and `model`.

    Raises:
        CheckpointError: ``albedo`` is ``model`` and its weights can't be used.
    """
    from seed3d.texture.models.decompose import decompose

    plain = srgb_to_linear(subject.rgb).astype(np.float32)
    if config.albedo in ("photo", "simple"):
        return PhotoLayers(plain, config.albedo == "simple")
    try:
        found = decompose(subject, config.model)
    except CheckpointError as error:
        if config.albedo == "model":
            raise
        what = f"no PBR model ({error}); simple removal of the light, one roughness and metallic"
        return PhotoLayers(plain, True, (Fallback("texture", what),))
    layers = [srgb_to_linear(found.albedo), found.roughness[..., None], found.metallic[..., None]]
    return PhotoLayers(np.concatenate(layers, axis=-1).astype(np.float32), False)


def completion_net(config: TextureConfig) -> tuple[CompletionNet | None, tuple[Fallback, ...]]:
    """Return the completion network where `config.completion` asks for it, else None.

    Raises:
        CheckpointError: ``completion`` is ``model`` and its weights can't be used.
    """
    if config.completion == "symmetric":
        return None, ()
    from seed3d.texture.models.weights import load_completion

    try:
        return load_completion(config.model), ()
    except CheckpointError as error:
        if config.completion == "model":
            raise
        what = f"no completion model ({error}); mirror images and the nearest colours"
        return None, (Fallback("texture", what),)
