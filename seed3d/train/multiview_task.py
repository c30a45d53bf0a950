"""Data and training task of the multi-view diffusion transformer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seed3d.conventions import linear_to_srgb
from seed3d.data.build import Recipe, canonical_surface
from seed3d.data.split import split_of
from seed3d.data.views import random_camera
from seed3d.render.cameras import orbit_camera
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, gbuffer
from seed3d.render.shade import render, sample_material
from seed3d.texture.models.multiview import MultiViewDiT, multiview_loss, sample_views
from seed3d.train.texture_data import read_records
from seed3d.types import Camera, Surface

VIEW_ELEVATION_RAD = 0.2


def target_cameras(views: int) -> list[Camera]:
    """Cameras of the target views: evenly round the object, the first at its front."""
    turn = 2.0 * np.pi / views
    return [orbit_camera(i * turn, VIEW_ELEVATION_RAD) for i in range(views)]


def geometry_maps(surface: Surface, camera: Camera, size: int, caster: Caster) -> np.ndarray:
    """Normals and canonical coordinates (6, S, S) float32 in [-1, 1], 0 outside the object."""
    buffer = gbuffer(surface, camera, size, caster)
    return np.concatenate([buffer.normal, buffer.position], axis=2).transpose(2, 0, 1)


def base_color_view(surface: Surface, camera: Camera, size: int, caster: Caster) -> np.ndarray:
    """SRGB base colour (3, S, S) float32 on white."""
    buffer = gbuffer(surface, camera, size, caster)
    out = np.ones((size, size, 3), np.float32)
    mask = buffer.mask
    out[mask] = linear_to_srgb(sample_material(surface, buffer.face[mask], buffer.bary[mask])[0])
    return out.transpose(2, 0, 1)


def multiview_record(recipe: Recipe, views: int, size: int) -> dict[str, Any]:
    """Render one object.

    Returns:
        ``photo`` (4, S, S) with its mask, ``geometry`` (V, 6, S, S), the true ``views``
        (V, 3, S, S), float16; ``attributes`` as JSON bytes.

    Raises:
        Seed3DError: The object can't be loaded.
    """
    surface, attributes = recipe.make()
    surface = canonical_surface(surface)
    rng = np.random.default_rng([*recipe.key.encode()])
    caster = Caster(surface.mesh)
    camera = random_camera(surface.mesh, attributes["has_front"], rng)
    image = render(surface, camera, size, Lighting.random(rng, camera), caster=caster)
    cameras = target_cameras(views)
    kept = {"creator": attributes["creator"], "split": split_of(recipe.group)}
    photo = np.concatenate([image.over().transpose(2, 0, 1), image.alpha[None]])
    geometry = np.stack([geometry_maps(surface, c, size, caster) for c in cameras])
    true = np.stack([base_color_view(surface, c, size, caster) for c in cameras])
    return {
        "photo": photo.astype(np.float16),
        "geometry": geometry.astype(np.float16),
        "views": true.astype(np.float16),
        "attributes": np.frombuffer(json.dumps(kept, sort_keys=True).encode(), np.uint8),
    }


@dataclass(frozen=True)
class ViewSets:
    """Objects as tensors, in [-1, 1]."""

    photo: torch.Tensor
    """(N, 4, S, S)"""
    geometry: torch.Tensor
    """(N, V, 6, S, S)"""
    views: torch.Tensor
    """(N, V, 3, S, S)"""


def load_views(folder: Path, split: str) -> ViewSets:
    """Load the records of a split."""
    stacks: dict[str, list[np.ndarray]] = {"photo": [], "geometry": [], "views": []}
    for _, _, record in read_records(folder, split):
        for name, stack in stacks.items():
            stack.append(record[name])
    photo, geometry, views = (torch.from_numpy(np.stack(s)).float() for s in stacks.values())
    return ViewSets(photo * 2.0 - 1.0, geometry, views * 2.0 - 1.0)


class MultiViewTask:
    """Velocity loss on the base-colour views of photographed objects."""

    def __init__(
        self,
        model: MultiViewDiT,
        train: ViewSets,
        held_out: ViewSets,
        shift: float = 2.0,
        device: str = "cpu",
    ) -> None:
        self.model, self.train, self.held_out = model, train, held_out
        self.shift, self.device = shift, device

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of a random batch."""
        index = torch.randint(len(self.train.photo), (batch,), generator=generator)
        views, geometry, photo = (
            value[index].to(self.device)
            for value in (self.train.views, self.train.geometry, self.train.photo)
        )
        value = multiview_loss(self.model, views, geometry, photo, self.shift, generator)
        return value, {}

    def evaluate(self, model: Any, count: int = 32) -> dict[str, float]:
        """PSNR of generated views inside the silhouette, beside the photo's mean colour's."""
        data = self.held_out
        photo, geometry, views = (
            value[:count].to(self.device) for value in (data.photo, data.geometry, data.views)
        )
        found = sample_views(model, geometry, photo, shift=self.shift)
        inside = (geometry.abs().sum(dim=2, keepdim=True) > 0).float()
        mask = (photo[:, 3:] + 1.0) / 2.0
        mean = (photo[:, :3] * mask).sum(dim=(2, 3)) / mask.sum(dim=(2, 3)).clamp(min=1.0)
        plain = mean[:, None, :, None, None].expand_as(views)
        return {
            "psnr_views": _psnr(found, views, inside),
            "psnr_mean_color": _psnr(plain, views, inside),
        }


def _psnr(found: torch.Tensor, true: torch.Tensor, inside: torch.Tensor) -> float:
    error = ((found - true) / 2.0).square() * inside
    each = error.flatten(1).sum(dim=1) / (3.0 * inside.flatten(1).sum(dim=1)).clamp(min=1.0)
    return (-10.0 * each.clamp(min=1e-8).log10()).mean().item()
