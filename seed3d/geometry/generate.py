"""Photo to canonical shape: features, cameras, latent samples, choice, fit, surface."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from seed3d.config import GeometryConfig
from seed3d.geometry import flow
from seed3d.geometry.bridge import bridged
from seed3d.geometry.cameras import as_camera, mirrored, moved
from seed3d.geometry.fit import fit_shape, warped
from seed3d.geometry.head import HeadOutput, candidate_cameras, of_both_ways
from seed3d.geometry.model import ShapeModel, load_model, pick_device
from seed3d.geometry.photo import PhotoFeatures, encode_photo
from seed3d.geometry.silhouette import silhouette, silhouette_iou
from seed3d.geometry.surface import MainBody, extract, main_body
from seed3d.geometry.thin import smoothed, thin_offset
from seed3d.types import Estimate, Fallback, Shape, Subject

TRIPOSG = "triposg"
"""Name of the published model among the values of GeometryConfig.model."""
MASK_SIZE = 56
LOW_AGREEMENT = 0.6
"""Silhouette IoU under which the report warns that the shape doesn't match the photo."""
CAMERA_SPREAD = (0.12, 0.08, 0.08, 0.0, 0.02, 0.02)
"""Standard deviations of the camera candidates around the head's answer, about its own errors."""
LOOSE_PIECES = 0.01
"""Volume share of loose pieces from which leaving them out is told."""
_NORMAL_80 = 1.2816
"""Half width of the 80 % interval of a normal distribution, in standard deviations."""


def shape_from_photo(
    subject: Subject, config: GeometryConfig, seed: int = 0, device: str = "auto"
) -> Shape:
    """Generate the shape of the object in a photo.

    Args:
        subject: The prepared photo.
        config: See GeometryConfig; its model chooses between the bundled kind and "triposg".
        seed: Of the latent noise.
        device: auto, cpu or cuda.

    Raises:
        CheckpointError: The model's file is missing or damaged.
        StageError: The decoded field is empty.
    """
    if config.model == TRIPOSG:
        from seed3d.geometry.triposg import shape_from_triposg

        return shape_from_triposg(subject, config, seed, pick_device(device))
    return shape_with(load_model(config.model, pick_device(device)), subject, config, seed)


def shape_with(model: ShapeModel, subject: Subject, config: GeometryConfig, seed: int = 0) -> Shape:
    """As shape_from_photo, with a model at hand."""
    from seed3d.image.encoder import load_encoder

    photo = both_ways(subject, load_encoder(), model.dit.device)
    mask = coverage(subject.mask).to(model.dit.device)
    with torch.no_grad():
        out = of_both_ways(model.head(photo))
        latents, cameras, grid = best_sample(model, photo, mask, out, config, seed)
    if config.fit_steps:
        offset = thin_offset(grid)

        def decode(z: torch.Tensor) -> torch.Tensor:
            return model.autoencoder.decode(z) - offset

        fitted = fit_shape(decode, latents, cameras, mask, config.fit_steps)
        cameras = fitted.cameras
        grid = warped(model.autoencoder.decode(fitted.latents), fitted.shift)
    whole, bridges = bridged(smoothed(grid - thin_offset(grid))[0].cpu().numpy())
    grid = torch.from_numpy(whole)[None].to(grid.device)
    agreement = float(silhouette_iou(silhouette(grid, cameras, MASK_SIZE), mask)[0])
    body = main_body(extract(upsampled(grid, config.resolution)))
    return Shape(
        mesh=body.mesh,
        camera=as_camera(cameras[0].cpu()),
        silhouette_iou=agreement,
        **attributes(out, model),
        fallbacks=shape_notes(agreement, body, bridges),
    )


def shape_notes(agreement: float, body: MainBody, bridges: int = 0) -> tuple[Fallback, ...]:
    """What the report says of a shape that doesn't match its photo, lost or was joined of pieces."""
    notes = []
    if agreement < LOW_AGREEMENT:
        notes.append(f"the shape's silhouette matches the photo's mask only to IoU {agreement:.2f}")
    if body.dropped_share > LOOSE_PIECES:
        notes.append(
            f"{body.dropped} loose pieces with {body.dropped_share:.1%} of the volume left out"
        )
    if bridges:
        notes.append(f"{bridges} loose pieces joined to the body by thin bridges")
    return tuple(Fallback("geometry", what) for what in notes)


def coverage(mask: np.ndarray) -> torch.Tensor:
    """The mask (S, S) at MASK_SIZE, (1, MASK_SIZE, MASK_SIZE) in [0, 1]."""
    full = torch.from_numpy(np.ascontiguousarray(mask, np.float32))[None, None]
    return functional.adaptive_avg_pool2d(full, MASK_SIZE)[:, 0]


def both_ways(subject: Subject, encoder: Any, device: Any = "cpu") -> PhotoFeatures:
    """Features of the photo and of its mirror image, a batch of 2.

    A shape mirrored in y, seen in the mirrored photo, is the same case again: two predictions
    whose errors differ, at the price of a larger batch.
    """
    ways = (subject.rgb, subject.mask), (subject.rgb[:, ::-1], subject.mask[:, ::-1])
    pairs = zip(*(encode_photo(rgb, mask, encoder) for rgb, mask in ways), strict=True)
    return PhotoFeatures(*(torch.cat(pair).to(device) for pair in pairs))


def best_sample(
    model: ShapeModel,
    photo: PhotoFeatures,
    mask: torch.Tensor,
    out: HeadOutput,
    config: GeometryConfig,
    seed: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sample a shape under each candidate camera; keep the one that agrees best with the mask.

    `photo` holds the features of the photo and of its mirror image, `mask` (1, S, S) its
    coverage, `out` the head's joint answer for both.

    Returns:
        latents (1, T, C), cameras (1, 6), grid (1, R, R, R).
    """
    generator = torch.Generator().manual_seed(seed)
    cameras = likely_cameras(out, config.candidates, generator).to(mask.device)
    grids = sample_grids(model, photo, cameras, config, generator)
    masks = mask.expand(len(cameras), -1, -1)
    best = int(silhouette_iou(silhouette(grids, cameras, MASK_SIZE), masks).argmax())
    grid = grids[best, None]
    return model.autoencoder.encode(grid), cameras[best, None], grid


def likely_cameras(out: HeadOutput, count: int, generator: torch.Generator) -> torch.Tensor:
    """The head's two likeliest cameras, then ones around the likeliest: (count, 6)."""
    peaks, _ = candidate_cameras(out, min(2, count))
    around = peaks[0, :1].repeat(count - peaks.shape[1], 1)
    spread = torch.randn(around.shape, generator=generator) * torch.tensor(CAMERA_SPREAD)
    return torch.cat([peaks[0], moved(around, spread.to(around.device))])


def sample_grids(
    model: ShapeModel,
    photo: PhotoFeatures,
    cameras: torch.Tensor,
    config: GeometryConfig,
    generator: torch.Generator,
) -> torch.Tensor:
    """TSDF grids (K, R, R, R) of one photo under K cameras: means of both ways of seeing it."""
    count = len(cameras)
    shape = (count, model.dit.config.tokens_per_side**3, model.dit.config.channels)
    noise = config.noise * torch.randn(shape, generator=generator).to(cameras.device)
    one_way = PhotoFeatures(*(value.repeat_interleave(count, 0) for value in photo))
    both = torch.cat([cameras, mirrored(cameras)])
    tokens, local = model.dit.condition(one_way, both)
    predict = flow.guided(model.dit, tokens, local, config.guidance)
    latents = flow.sample(predict, noise.repeat(2, 1, 1), config.steps, model.shift)
    grids = model.autoencoder.decode(latents)
    return (grids[:count] + grids[count:].flip(2)) / 2  # (K, x, y, z): y turns


def upsampled(grid: torch.Tensor, resolution: int) -> np.ndarray:
    """Field (resolution,)*3 from a coarse grid (1, R, R, R), trilinear, float32."""
    size = (resolution,) * 3
    fine = functional.interpolate(grid[:, None].float(), size, mode="trilinear")
    return fine[0, 0].detach().cpu().numpy()


def attributes(out: HeadOutput, model: ShapeModel) -> dict[str, Estimate]:
    """Size, density, material and category of the first photo with the head's own certainty."""
    note = "trained head on the photo's features"
    size = _log_normal(out.log_size[0], f"{note}; longest side", 4)
    density = _log_normal(out.log_density[0], f"{note}; mass over the convex hull's volume", 1)
    named = {}
    for kind, logits, names in (
        ("category", out.category_logits, model.head.config.categories),
        ("material", out.material_logits, model.head.config.materials),
    ):
        p = logits[0].softmax(0)
        best = int(p.argmax())
        named[kind] = Estimate(names[best], "estimate", f"trained head, probability {p[best]:.2f}")
    return {"size_m": size, "hull_density_kg_m3": density, **named}


def _log_normal(predicted: torch.Tensor, note: str, digits: int) -> Estimate:
    """Median and 80 % interval from mean and log standard deviation (2,) of a logarithm."""
    mean, spread = float(predicted[0]), float(predicted[1].clamp(-3, 2).exp())
    low, median, high = (
        round(math.exp(mean + k * _NORMAL_80 * spread), digits) for k in (-1, 0, 1)
    )
    return Estimate(median, "estimate", note, low, high)
