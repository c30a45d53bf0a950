"""What the loop trains: the photo head and the shape DiT."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from seed3d.data.labels import category_row
from seed3d.geometry import flow
from seed3d.geometry.autoencoder import BlockAutoencoder
from seed3d.geometry.dit import ShapeDiT
from seed3d.geometry.head import PhotoHead, candidate_cameras, head_loss
from seed3d.geometry.photo import PhotoFeatures
from seed3d.train.autoencoder import iou
from seed3d.train.data import Objects

CONDITION_DROP = 0.1
"""Share of photos left out in training, for classifier-free guidance."""
CHANNEL_DROP = 0.1
"""Share of the encoder's channels left out in training."""
COLOR_SPREAD = 0.25
"""Standard deviation of the logarithm of each colour channel's darkness in training."""


def photo_weights(objects: Objects) -> torch.Tensor:
    """Sampling weight of each photo (N,): every object alike, categories evened out by half."""
    names = [row["category"] for row in objects.attributes]
    count = {name: names.count(name) for name in set(names)}
    per_object = torch.tensor([count[name] ** -0.5 for name in names])
    photos = torch.bincount(objects.owner, minlength=len(names))
    return (per_object / photos)[objects.owner]


class HeadTask:
    """Camera, size, mean density, category and material from features."""

    def __init__(self, model: PhotoHead, train: Objects, held_out: Objects) -> None:
        self.model, self.train, self.held_out = model, train, held_out
        self.weights = photo_weights(train)
        self.labels = {id(o): self._labels(o) for o in (train, held_out)}

    def _labels(self, objects: Objects) -> tuple[torch.Tensor, ...]:
        categories = {n: i for i, n in enumerate(self.model.config.categories)}
        materials = {n: i for i, n in enumerate(self.model.config.materials)}
        rows = [objects.attributes[int(i)] for i in objects.owner]
        return (
            torch.tensor([max(row["size_m"]) for row in rows]),
            torch.tensor([categories.get(category_row(row["category"]), -1) for row in rows]),
            torch.tensor([materials.get(row["material"], -1) for row in rows]),
            torch.tensor([row["has_front"] for row in rows]),
            hull_densities(objects)[objects.owner],
        )

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Sum of the heads' losses on a random batch."""
        index = torch.multinomial(self.weights, batch, replacement=True, generator=generator)
        labels = (label[index] for label in self.labels[id(self.train)])
        out = self.model(self.train.photos.take(index))
        parts = head_loss(out, self.train.cameras[index], *labels)
        return sum(parts.values()), {k: v.item() for k, v in parts.items()}  # type: ignore[return-value]

    def evaluate(self, model: torch.nn.Module) -> dict[str, float]:
        """Errors on the held-out photos; azimuth only where there is a front."""
        objects = self.held_out
        size, category, material, front, density = self.labels[id(objects)]
        out = model(objects.photos.take(torch.arange(len(objects.owner))))
        cameras, _ = candidate_cameras(out, 1)
        turn = cameras[:, 0, 0] - objects.cameras[:, 0]
        azimuth = (torch.remainder(turn + math.pi, 2 * math.pi) - math.pi).abs().rad2deg()
        elevation = (cameras[:, 0, 1] - objects.cameras[:, 1]).abs().rad2deg()
        ratio = (out.log_size[:, 0] - size.log()).abs()
        known, made = category >= 0, material >= 0
        heavier = out.log_density[:, 0] - density.log()
        mass = heavier + 3 * (out.log_size[:, 0] - size.log())
        right = out.category_logits.argmax(1)[known] == category[known]
        material_right = out.material_logits.argmax(1)[made] == material[made]
        return {
            "azimuth_deg_median": azimuth[front].median().item(),
            "azimuth_under_20_share": (azimuth[front] < 20).float().mean().item(),
            "elevation_deg_median": elevation.median().item(),
            "size_error_median": (ratio.median().exp() - 1).item(),
            "category_accuracy": right.float().mean().item(),
            "material_accuracy": material_right.float().mean().item() if made.any() else -1.0,
            "density_within_factor_2_share": _within_factor_2(heavier),
            "mass_within_factor_2_share": _within_factor_2(mass),
        }


def hull_densities(objects: Objects) -> torch.Tensor:
    """True mass over the volume of the convex hull [kg/m3], (O,); nan where no mass is known."""
    from scipy.spatial import ConvexHull

    from seed3d.geometry.surface import extract

    keys = [key.rstrip("~") for key in objects.keys]  # a mirror image has the same
    found: dict[str, float] = {}
    for key, row, grid in zip(keys, objects.attributes, objects.tsdf, strict=True):
        if key not in found and row["mass_kg"]:
            mesh = extract(grid.numpy().astype(np.float32) / 127)
            scale = max(row["size_m"]) / float(mesh.extents.max())
            found[key] = row["mass_kg"] / (ConvexHull(mesh.vertices).volume * scale**3)
    return torch.tensor([found.get(key, math.nan) for key in keys], dtype=torch.float32)


def _within_factor_2(log_ratio: torch.Tensor) -> float:
    """Share of the known ratios (nan: unknown) within a factor of 2; -1 where none is known."""
    known = log_ratio[log_ratio.isfinite()]
    return (known.abs() <= math.log(2)).float().mean().item() if len(known) else -1.0


def jittered(cameras: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Cameras with errors like the head's, so that the DiT learns to live with them."""
    noise = torch.randn(cameras.shape, generator=generator)
    wide = (torch.rand(len(cameras), 1, generator=generator) < 0.3).float()
    spread = torch.tensor([0.07, 0.04, 0.06, 0.03, 0.02, 0.02]) * (0.3 + 1.7 * wide)
    offset = noise * spread
    distance = cameras[:, 2] * offset[:, 2].exp()
    focal = cameras[:, 3] * (offset[:, 2] + offset[:, 3]).exp()
    moved = cameras + offset
    return torch.stack([moved[:, 0], moved[:, 1], distance, focal, moved[:, 4], moved[:, 5]], dim=1)


def varied(photo: PhotoFeatures, generator: torch.Generator) -> PhotoFeatures:
    """Other looks of the same photos: channels of the features left out, colours changed."""

    def thinned(value: torch.Tensor) -> torch.Tensor:
        shape = (*value.shape[:2], *[1] * (value.ndim - 2))
        keep = torch.rand(shape, generator=generator) >= CHANNEL_DROP
        return value * keep / (1 - CHANNEL_DROP)

    gain = (COLOR_SPREAD * torch.randn(len(photo.local), 3, 1, 1, generator=generator)).exp()
    rgb = (1 - (1 - photo.local[:, :3]) * gain).clamp(-1, 1)  # the white ground stays white
    local = torch.cat([rgb, photo.local[:, 3:]], dim=1)
    return PhotoFeatures(thinned(photo.mid), thinned(photo.deep), thinned(photo.pooled), local)


def noise_scale(count: int, generator: torch.Generator) -> torch.Tensor:
    """Factors of the noise (count, 1, 1): half of them 1, half below, as sampling uses it."""
    scale = 0.2 + 0.8 * torch.rand(count, 1, 1, generator=generator)
    full = torch.rand(count, 1, 1, generator=generator) < 0.5
    return torch.where(full, torch.ones(()), scale)


class DiTTask:
    """Velocity loss on the latents of the photographed objects."""

    def __init__(
        self,
        model: ShapeDiT,
        autoencoder: BlockAutoencoder,
        train: Objects,
        held_out: Objects,
        shift: float = 2.0,
        device: str = "cpu",
    ) -> None:
        self.model, self.autoencoder, self.train, self.held_out = (
            model,
            autoencoder,
            train,
            held_out,
        )
        self.shift, self.device = shift, device
        self.weights = photo_weights(train)
        with torch.no_grad():
            self.latents = torch.cat(
                [autoencoder.encode(g.float() / 127).half() for g in train.tsdf.split(32)]
            )

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of a random batch."""
        index = torch.multinomial(self.weights, batch, replacement=True, generator=generator)
        clean = self.latents[self.train.owner[index]].float()
        sigma = flow.training_sigma(batch, self.shift, generator)
        noise = torch.randn(clean.shape, generator=generator)
        noise = noise * noise_scale(batch, generator)
        drop = torch.rand(batch, generator=generator) < CONDITION_DROP
        cameras = jittered(self.train.cameras[index], generator)
        photo = varied(self.train.photos.take(index), generator)
        if self.device != "cpu":
            clean, sigma, noise, drop, cameras = (
                x.to(self.device) for x in (clean, sigma, noise, drop, cameras)
            )
            photo = type(photo)(*(x.to(self.device) for x in photo))
        predicted = self.model(flow.noisy_at(clean, noise, sigma), sigma, photo, cameras, drop)
        value = flow.loss(predicted, clean, sigma)
        return value, {"clean_mse": (predicted - clean).square().mean().item()}

    def evaluate(self, model: Any, count: int = 64) -> dict[str, float]:
        """IoU of samples for held-out photos with true cameras, by guidance, steps and noise."""
        objects = self.held_out
        index = torch.linspace(0, len(objects.owner) - 1, min(count, len(objects.owner))).long()
        photo, cameras = objects.photos.take(index), objects.cameras[index]
        if self.device != "cpu":
            photo = type(photo)(*(x.to(self.device) for x in photo))
            cameras = cameras.to(self.device)
        tokens, local = model.condition(photo, cameras)
        noise = torch.randn(
            (len(index), *self.latents.shape[1:]), generator=torch.Generator().manual_seed(0)
        ).to(self.device)
        truth = objects.tsdf[objects.owner[index]].float() / 127
        result = {}
        for guidance, steps, scale in ((1.0, 1, 0.4), (1.0, 8, 0.4), (2.0, 8, 1.0), (1.5, 8, 0.4)):
            predict = flow.guided(model, tokens, local, guidance)
            latents = flow.sample(predict, scale * noise, steps, self.shift)
            grid = self.autoencoder.decode(latents.cpu())
            result[f"iou_g{guidance:g}_s{steps}_n{scale:g}"] = iou(grid, truth).mean().item()
        return result
