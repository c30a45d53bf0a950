"""Base-colour views by MV-Adapter on SDXL, for those who have its weights and a GPU.

MV-Adapter (Huang et al., arXiv:2412.03632; Apache-2.0, SDXL: OpenRAIL++) steers a diffusers SDXL
pipeline by normal and position renders. Its pipeline class is its own package `mvadapter`
(github.com/huanngzh/MV-Adapter), its weights are some 14 GB with SDXL's: neither ships here, and
nothing is downloaded unless `load_pipeline` is called. What this module gives the pipeline
(shapes, ranges, cameras) is tested; the result with the published weights is not measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.conventions import CANONICAL_HALF
from seed3d.errors import CheckpointError, MissingDependencyError
from seed3d.render.cameras import orbit_camera
from seed3d.render.raycast import Caster, gbuffer
from seed3d.types import Camera, Subject, Surface

SIZE = 768
VIEWS = ((0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (270.0, 0.0), (0.0, 89.9), (0.0, -89.9))
"""Azimuth and elevation [deg] of the six views."""
GREY = 0.5
"""Background of the reference and of the renders."""
WEIGHTS = "mvadapter_ig2mv_sdxl.safetensors"
FAR_FOV_RAD = 0.05
"""The adapter was trained on orthographic views; so narrow a camera is nearly one."""


def view_cameras() -> list[Camera]:
    """Cameras of the six views."""
    return [
        orbit_camera(np.deg2rad(a), np.deg2rad(e), FAR_FOV_RAD, radius=CANONICAL_HALF * 2**0.5)
        for a, e in VIEWS
    ]


def control_images(surface: Surface, size: int = SIZE) -> np.ndarray:
    """Return position and normal renders of the views: (6, 6, S, S) float32 in [0, 1].

    Args:
        surface: Canonical frame.
        size: Side of a view [pixel].
    """
    caster = Caster(surface.mesh)
    out = np.full((len(VIEWS), 6, size, size), GREY, np.float32)
    for view, camera in zip(out, view_cameras(), strict=True):
        buffer = gbuffer(surface, camera, size, caster)
        maps = np.concatenate([buffer.position, buffer.normal], axis=2) / 2.0 + 0.5
        view[:, buffer.mask] = maps[buffer.mask].T
    return np.clip(out, 0.0, 1.0)


def load_pipeline(base: Path, adapter: Path, device: str = "cuda") -> Any:
    """Load SDXL with the adapter from local folders.

    Args:
        base: Folder of stabilityai/stable-diffusion-xl-base-1.0 in diffusers' layout.
        adapter: Folder that holds mvadapter_ig2mv_sdxl.safetensors.
        device: Where to run it.

    Raises:
        CheckpointError: A folder doesn't hold what it should.
        MissingDependencyError: The package `mvadapter` isn't installed.
    """
    if not (base / "model_index.json").is_file():
        raise CheckpointError(
            f"{base}: no diffusers pipeline (model_index.json is missing); download"
            " stabilityai/stable-diffusion-xl-base-1.0 there"
        )
    if not (adapter / WEIGHTS).is_file():
        raise CheckpointError(
            f"{adapter}: {WEIGHTS} is missing; download it from huanngzh/mv-adapter"
        )
    try:
        from mvadapter.pipelines.pipeline_mvadapter_i2mv_sdxl import (  # type: ignore[import]
            MVAdapterI2MVSDXLPipeline,
        )
    except ImportError as error:
        raise MissingDependencyError(
            "MV-Adapter's pipeline is not installed; install it from"
            " https://github.com/huanngzh/MV-Adapter (Apache-2.0), without its CUDA extras"
        ) from error
    import torch

    pipeline = MVAdapterI2MVSDXLPipeline.from_pretrained(base, torch_dtype=torch.float16)
    pipeline.init_custom_adapter(num_views=len(VIEWS))
    pipeline.load_custom_adapter(str(adapter), weight_name=WEIGHTS)
    pipeline.to(device=device, dtype=torch.float16)
    pipeline.cond_encoder.to(device=device, dtype=torch.float16)
    return pipeline


def generate_views(
    pipeline: Any, subject: Subject, surface: Surface, seed: int = 0, steps: int = 30
) -> list[tuple[Camera, np.ndarray]]:
    """Return the six views as (camera, (S, S, 3) float32 sRGB).

    Args:
        pipeline: From `load_pipeline`.
        subject: The prepared photo.
        surface: Canonical frame.
        seed: Of the noise.
        steps: Of the sampler.
    """
    import torch
    from PIL import Image

    mask = subject.mask[..., None]
    grey = subject.rgb - (1.0 - mask) * (1.0 - GREY)  # on white before
    reference = Image.fromarray((np.clip(grey, 0.0, 1.0) * 255 + 0.5).astype(np.uint8))
    control = torch.from_numpy(control_images(surface)).to(pipeline.device, pipeline.dtype)
    images = pipeline(
        prompt="high quality",
        negative_prompt="watermark, ugly, deformed, noisy, blurry, low contrast",
        height=SIZE,
        width=SIZE,
        num_inference_steps=steps,
        guidance_scale=3.0,
        num_images_per_prompt=len(VIEWS),
        control_image=control,
        control_conditioning_scale=1.0,
        reference_image=reference.resize((SIZE, SIZE)),
        reference_conditioning_scale=1.0,
        generator=torch.Generator(pipeline.device).manual_seed(seed),
        output_type="pil",
    ).images
    pictures = [np.asarray(image, np.float32) / 255.0 for image in images]
    return list(zip(view_cameras(), pictures, strict=True))
