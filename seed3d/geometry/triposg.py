"""The published TripoSG checkpoint with this project's own modules.

Its stages (photo encoder, transformer, decoder) are loaded one after another, so that the peak of
memory is that of the largest. Camera, size, material and category come from the bundled head and
a fit of the silhouette, because the published model says nothing of them.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seed3d.config import GeometryConfig, TripoSGConfig
from seed3d.conventions import up_axis_rotation
from seed3d.errors import CheckpointError
from seed3d.geometry.cameras import as_camera
from seed3d.geometry.decode import decode_surface
from seed3d.geometry.fit import fit_cameras
from seed3d.geometry.generate import MASK_SIZE, attributes, both_ways, coverage, shape_notes
from seed3d.geometry.head import HeadOutput, candidate_cameras, of_both_ways
from seed3d.geometry.model import ShapeModel, load_model
from seed3d.geometry.silhouette import silhouette, silhouette_iou
from seed3d.geometry.surface import main_body
from seed3d.geometry.tsdf import canonical, signed_distance_grid, truncate
from seed3d.geometry.vecset import VecSetVAE
from seed3d.geometry.vecset_dit import VecSetDiT
from seed3d.geometry.vecset_flow import sample
from seed3d.types import Mesh, Shape, Subject

BOUND = 1.005
"""Half side of the cube that its shapes lie in."""
HEAD_MODEL = "seed3d-tiny"
TURNS = 8
"""Azimuths tried all around, besides the head's: the silhouette tells which one fits."""
HEAD_TRUST = 0.1
"""What a camera's probability by the head weighs against silhouette IoU."""
FITTED = 4
"""Cameras that are fitted, the most promising ones."""
FIT_STEPS, GRID = 40, 64


@dataclass(frozen=True)
class Loaders:
    """How to get each stage's network when its turn comes: device -> module."""

    encoder: Callable[[str], Any]
    transformer: Callable[[str], VecSetDiT]
    vae: Callable[[str], VecSetVAE]


def published() -> Loaders:
    """The networks in the cache of `seed3d weights fetch triposg`.

    Raises:
        CheckpointError: One isn't there; told before the first is loaded.
    """
    from seed3d.geometry.dinov2 import FILE, NAME, load_dinov2
    from seed3d.weights import located

    encoder = located(NAME, FILE).parent
    name = "diffusion_pytorch_model.safetensors"
    transformer, vae = (located("triposg", f"{part}/{name}") for part in ("transformer", "vae"))
    return Loaders(
        partial(load_dinov2, encoder),
        lambda device: load_part(
            VecSetDiT, {}, transformer, device, torch.bfloat16 if device != "cpu" else torch.float32
        ),
        lambda device: load_part(VecSetVAE, {}, vae, device),
    )


def load_part(
    kind: Any, config: dict[str, Any], path: Path, device: str, dtype: torch.dtype = torch.float32
) -> Any:
    """A network with the weights of a file, strictly; no second copy of them in memory.

    Raises:
        CheckpointError: A parameter is missing, left over or of another shape.
    """
    from safetensors.torch import load_file

    with torch.device("meta"):
        model = kind(**config)
    try:
        model.load_state_dict(load_file(path, device=device), strict=True, assign=True)
    except RuntimeError as error:
        raise CheckpointError(f"{path}: not the weights of {kind.__name__}: {error}") from error
    return model.to(dtype).eval().requires_grad_(False)


def shape_from_triposg(
    subject: Subject,
    config: GeometryConfig,
    seed: int = 0,
    device: str = "cpu",
    loaders: Loaders | None = None,
) -> Shape:
    """As `seed3d.geometry.generate.shape_from_photo`, by the published model.

    Args:
        subject: The prepared photo.
        config: `config.triposg` holds this model's options.
        seed: Of the latent noise.
        device: cpu or cuda.
        loaders: Networks; the fetched ones where None.

    Raises:
        CheckpointError: The weights aren't fetched or damaged.
        MissingDependencyError: `transformers` isn't installed.
        StageError: The decoded field is empty.
    """
    loaders = loaders or published()
    body = main_body(triposg_mesh(subject, config.triposg, seed, device, loaders))
    mesh, _, _ = canonical(
        replace(body.mesh, vertices=body.mesh.vertices @ up_axis_rotation("y").T)
    )
    model = load_model(HEAD_MODEL)
    out = head_answer(subject, model)
    camera, agreement = find_camera(mesh, out, coverage(subject.mask))
    return Shape(
        mesh=mesh,
        camera=as_camera(camera[0]),
        silhouette_iou=agreement,
        **attributes(out, model),
        fallbacks=shape_notes(agreement, body),
    )


@torch.no_grad()
def triposg_mesh(
    subject: Subject, config: TripoSGConfig, seed: int, device: str, loaders: Loaders
) -> Mesh:
    """Photo to mesh in the published model's frame (Y up); one network in memory at a time."""
    condition = _encoded(subject, loaders.encoder(device))
    _free()
    latents = _sampled(condition, config, seed, loaders.transformer(device))
    _free()
    return _decoded(latents, config.resolution, loaders.vae(device))


def _encoded(subject: Subject, encoder: Any) -> torch.Tensor:
    from seed3d.geometry.dinov2 import photo_tokens

    return photo_tokens(subject.rgb, encoder).float()


def _sampled(
    condition: torch.Tensor, config: TripoSGConfig, seed: int, dit: VecSetDiT
) -> torch.Tensor:
    """Latents (1, T, C) of the photo's tokens (1, P, D)."""
    generator = torch.Generator().manual_seed(seed)
    shape = (1, config.tokens, dit.config.in_channels)
    noise = torch.randn(shape, generator=generator).to(condition.device)
    dtype = next(dit.parameters()).dtype

    def velocity(x: torch.Tensor, time: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return dit(x.to(dtype), time, tokens.to(dtype)).float()

    return sample(velocity, noise, condition, config.steps, config.guidance)


def _decoded(latents: torch.Tensor, resolution: int, vae: VecSetVAE) -> Mesh:
    """Mesh of the latents; on a GPU coarse levels in bfloat16."""
    sdf, device = vae.field(latents), latents.device

    def field(points: torch.Tensor) -> torch.Tensor:
        return sdf(points[None])[0]

    def rough(points: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16):
            return field(points)

    return decode_surface(
        field,
        resolution,
        rough=None if device.type == "cpu" else rough,
        bound=BOUND,
        start=64,
        device=device,
    ).mesh


def _free() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@torch.no_grad()
def head_answer(subject: Subject, model: ShapeModel) -> HeadOutput:
    """The bundled head's answer for the photo."""
    from seed3d.image.encoder import load_encoder

    return of_both_ways(model.head(both_ways(subject, load_encoder(), model.dit.device)))


def find_camera(mesh: Mesh, out: HeadOutput, mask: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Camera (1, 6) under which a canonical mesh projects onto the mask (1, S, S).

    Of the head's answers and azimuths all around the most promising are fitted; the best
    silhouette wins, near ties go to the view that the head finds likelier.

    Returns:
        The camera and its silhouette IoU.
    """
    distance = truncate(signed_distance_grid(mesh, GRID)).astype(np.float32)
    peaks, likely = candidate_cameras(out, 2)
    around = peaks[0, :1].repeat(TURNS, 1)
    around[:, 0] = torch.arange(TURNS) * (2 * math.pi / TURNS)
    cameras = torch.cat([peaks[0], around])
    trust = torch.cat([likely[0], torch.zeros(TURNS)])
    grids = torch.from_numpy(distance)[None].expand(len(cameras), -1, -1, -1)
    masks = mask.expand(len(cameras), -1, -1)
    with torch.no_grad():
        first = silhouette_iou(silhouette(grids, cameras, MASK_SIZE), masks) + HEAD_TRUST * trust
    chosen = first.topk(FITTED).indices
    grids, masks = grids[:FITTED], masks[:FITTED]
    fitted = fit_cameras(grids, cameras[chosen], masks, FIT_STEPS)
    with torch.no_grad():
        iou = silhouette_iou(silhouette(grids, fitted, MASK_SIZE), masks)
    best = int((iou + HEAD_TRUST * trust[chosen]).argmax())
    return fitted[best, None], float(iou[best])
