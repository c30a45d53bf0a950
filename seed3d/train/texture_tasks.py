"""What the loop trains for textures: the decomposition of photos."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from seed3d.texture.models.pbr import PBRNet, Semantics, semantics_of, summarize
from seed3d.train.texture_data import read_records

GRADIENT = 0.5
"""Weight of the loss on the albedo's differences between neighbouring pixels."""
RIDGE_WHOLE = 10.0
"""Best of 0.3, 1, 3, 10 on the validation split."""
METALLIC = 0.15
"""Weight of the cross-entropy of metallic."""


@dataclass(frozen=True)
class Photos:
    """All photos of a split, with their true materials, in memory."""

    rgb: torch.Tensor
    """(N, 3, S, S) uint8 sRGB on white."""
    mask: torch.Tensor
    """(N, 1, S, S) uint8."""
    albedo: torch.Tensor
    """(N, 3, S, S) uint8 sRGB."""
    material: torch.Tensor
    """(N, 2, S, S) uint8: roughness, metallic."""
    semantics: Semantics
    """float16."""
    procedural: torch.Tensor
    """(N,) bool: one of this project's own objects."""

    def take(self, index: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return rgb, mask, albedo, material in [0, 1] of some photos."""
        return tuple(
            value[index].float() / 255
            for value in (self.rgb, self.mask, self.albedo, self.material)
        )


def load_photos(folder: Path, split: str) -> Photos:
    """Load all photos of a split and their features, packed in one file beside `folder`."""
    from safetensors.torch import load_file

    packed = folder.with_name(f"{folder.name}_{split}.safetensors")
    if not packed.exists():
        _pack_photos(folder, split, packed)
    kept = load_file(packed)
    semantics = Semantics(kept["mid"], kept["deep"], kept["pooled"])
    return Photos(
        kept["rgb"], kept["mask"], kept["albedo"], kept["material"], semantics, kept["procedural"]
    )


def _pack_photos(folder: Path, split: str, packed: Path) -> None:
    from safetensors.torch import save_file

    from seed3d.image.encoder import load_encoder

    stacks: dict[str, list[np.ndarray]] = {k: [] for k in ("rgb", "mask", "albedo", "material")}
    procedural: list[bool] = []
    for _, attributes, record in read_records(folder, split):
        for name, stack in stacks.items():
            stack.append(record[name])
        procedural += [attributes["creator"] == "seed3d"] * len(record["rgb"])
    out = {name: torch.from_numpy(np.concatenate(stack)) for name, stack in stacks.items()}
    out["mask"] = out["mask"][..., None]
    out = {name: value.permute(0, 3, 1, 2).contiguous() for name, value in out.items()}
    encoder = load_encoder()
    parts = [semantics_of(batch.float() / 255, encoder) for batch in out["rgb"].split(32)]
    for name in Semantics._fields:
        out[name] = torch.cat([getattr(part, name) for part in parts]).half()
    out["procedural"] = torch.tensor(procedural)
    save_file(out, packed)


def masked_mean(value: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Mean over the object of each photo: value (B, C, S, S), weight (B, 1, S, S) to (B,)."""
    total = (value.mean(dim=1, keepdim=True) * weight).sum(dim=(1, 2, 3))
    return total / weight.sum(dim=(1, 2, 3)).clamp(min=1e-6)


def fit_first(
    model: PBRNet, photos: Photos, ridge: tuple[float, float] = (RIDGE_WHOLE, 0.02)
) -> None:
    """Fit the network's first answer by ridge regression: the whole photo, then what is local.

    Args:
        model: Its `whole` and `local` layers are set.
        photos: Of the training split.
        ridge: Penalties of both, in shares of the number of samples, on standardised features.
    """
    generator = torch.Generator().manual_seed(0)
    features, targets, local, rest = [], [], [], []
    for index in torch.arange(len(photos.rgb)).split(64):
        rgb, mask, albedo, material = photos.take(index)
        semantics = Semantics(*(value[index].float() for value in photos.semantics))
        solid = (mask > 0.99).float()
        shade = (rgb.clamp(min=0.02) / albedo.clamp(min=0.02)).log().clamp(-1.0, 1.0)
        logits = torch.logit(material[:, :1].clamp(0.05, 0.95)), 6.0 * material[:, 1:] - 3.0
        target = torch.cat([shade, *logits], dim=1)  # (B, 5, S, S)
        mean = torch.stack([masked_mean(v, solid) for v in target.split(1, dim=1)], dim=1)
        targets.append(mean)
        features.append(summarize(rgb, mask, semantics.pooled))
        cover = functional.avg_pool2d(solid, 4)
        small = functional.avg_pool2d(target * solid, 4) / cover.clamp(min=1e-6)
        small = small - mean[..., None, None]
        seen = model.local_features(rgb, mask, semantics)
        for photo in range(len(rgb)):
            inside = torch.nonzero(cover[photo, 0].flatten() > 0.9)[:, 0]
            pick = inside[torch.randperm(len(inside), generator=generator)[:40]]
            local.append(seen[photo].flatten(1)[:, pick].T.half())
            rest.append(small[photo].flatten(1)[:, pick].T)
    _ridge(model.whole, torch.cat(features), torch.cat(targets), ridge[0])
    _ridge(model.local, torch.cat(local).float(), torch.cat(rest), ridge[1])


def _ridge(layer: Any, x: torch.Tensor, y: torch.Tensor, ridge: float) -> None:
    """Set a linear layer to the ridge regression from x (N, F) to y (N, C)."""
    mean, spread = x.mean(dim=0), x.std(dim=0) + 1e-3
    z = (x - mean) / spread
    gram = (z.T @ z).double() + ridge * len(z) * torch.eye(z.shape[1], dtype=torch.float64)
    weight = torch.linalg.solve(gram, (z.T @ (y - y.mean(dim=0))).double())
    weight = (weight / spread[:, None]).float()
    layer.weight.data.copy_(weight.T.reshape(layer.weight.shape))
    layer.bias.data.copy_(y.mean(dim=0) - mean @ weight)


class PBRTask:
    """Absolute errors of albedo and roughness, cross-entropy of metallic, edges of the albedo."""

    def __init__(self, model: PBRNet, train: Photos, held_out: Photos) -> None:
        self.model, self.train, self.held_out = model, train, held_out

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of a random batch; half of it mirrored left to right."""
        index = torch.randint(len(self.train.rgb), (batch,), generator=generator)
        rgb, mask, albedo, material = self.train.take(index)
        semantics = Semantics(*(value[index].float() for value in self.train.semantics))
        turn = torch.rand(batch, generator=generator) < 0.5
        rgb, mask, albedo, material, mid, deep = (
            torch.where(turn[:, None, None, None], value.flip(-1), value)
            for value in (rgb, mask, albedo, material, semantics.mid, semantics.deep)
        )
        out = self.model(rgb, mask, Semantics(mid, deep, semantics.pooled))
        guess = out.albedo(rgb)
        error = masked_mean((guess - albedo).abs(), mask).mean()
        edges = _edge_error(guess, albedo, mask)
        rough = masked_mean((out.roughness - material[:, :1]).abs(), mask).mean()
        entropy = functional.binary_cross_entropy_with_logits(
            out.metallic_logit, material[:, 1:], reduction="none"
        )
        metal = masked_mean(entropy, mask).mean()
        value = error + GRADIENT * edges + 0.5 * rough + METALLIC * metal
        return value, {"albedo": error.item(), "roughness": rough.item(), "metallic": metal.item()}

    def evaluate(self, model: Any) -> dict[str, float]:
        """Errors on held-out photos beside those of the photo itself and of constants."""
        return pbr_errors(model, self.held_out)


def medians(photos: Photos) -> tuple[float, float]:
    """Median roughness and metallic of the objects' pixels: the best constants."""
    solid = photos.mask[:, 0] > 252
    return (
        float(photos.material[:, 0][solid].float().median() / 255),
        float(photos.material[:, 1][solid].float().median() / 255),
    )


def pbr_errors(
    model: Any,
    photos: Photos,
    constants: tuple[float, float] = (0.5, 0.0),
    chosen: torch.Tensor | None = None,
) -> dict[str, float]:
    """Mean absolute errors over the object's pixels, mean over photos.

    Args:
        model: In evaluation mode.
        photos: Of a split.
        constants: Roughness and metallic of the constant baseline: medians of the training set.
        chosen: Indices of the photos to use; all where None.
    """
    rows: dict[str, list[torch.Tensor]] = {}
    chosen = torch.arange(len(photos.rgb)) if chosen is None else chosen
    for index in chosen.split(32):
        rgb, mask, albedo, material = photos.take(index)
        with torch.no_grad():
            out = model(rgb, mask, Semantics(*(v[index].float() for v in photos.semantics)))
        found = {
            "albedo": (out.albedo(rgb).clamp(0.0, 1.0) - albedo).abs(),
            "albedo_photo": (rgb - albedo).abs(),
            "roughness": (out.roughness - material[:, :1]).abs(),
            "roughness_constant": (constants[0] - material[:, :1]).abs(),
            "metallic": (out.metallic - material[:, 1:]).abs(),
            "metallic_constant": (constants[1] - material[:, 1:]).abs(),
        }
        solid = (mask > 0.99).float()
        for name, value in found.items():
            rows.setdefault(name, []).append(masked_mean(value, solid))
    return {name: round(torch.cat(values).mean().item(), 5) for name, values in rows.items()}


def _edge_error(guess: torch.Tensor, albedo: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    error = guess - albedo
    across = (error[..., 1:] - error[..., :-1]).abs()
    along = (error[..., 1:, :] - error[..., :-1, :]).abs()
    solid = (mask > 0.99).float()
    right = masked_mean(across, solid[..., 1:] * solid[..., :-1])
    below = masked_mean(along, solid[..., 1:, :] * solid[..., :-1, :])
    return (right + below).mean()
