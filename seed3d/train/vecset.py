"""What the loop trains at the paper's sizes: the VecSet VAE and the stream DiT on its latents."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from seed3d.geometry.photo import PhotoFeatures
from seed3d.geometry.stream_dit import StreamDiT
from seed3d.geometry.vecset import VecSetVAE
from seed3d.geometry.vecset_flow import flow_loss, length_shift

KL_WEIGHT, KL_WARMUP = 1e-4, 2000
"""Weight of the KL term, reached over this many steps (the paper's value)."""
SEED_STRIDE = 1_000_003
"""The loop seeds a step's generator with seed * SEED_STRIDE + step."""


@dataclass(frozen=True)
class Shapes:
    """Points of O shapes, see `seed3d.geometry.points.Cloud`."""

    surface: torch.Tensor
    """(O, P, 6)."""
    salient: torch.Tensor
    """(O, S, 6)."""
    points: torch.Tensor
    """(O, Q, 3)."""
    distance: torch.Tensor
    """(O, Q)."""


@dataclass(frozen=True)
class Photos:
    """Photo tokens of N photos."""

    tokens: torch.Tensor
    """(N, P, C), any float type."""
    owner: torch.Tensor
    """(N,) index of the shape each photo shows."""


def build(config: dict[str, Any]) -> tuple[VecSetVAE, StreamDiT]:
    """The untrained networks of a configs/train file of this kind."""
    return VecSetVAE(**config["vae"]), StreamDiT(**config["dit"])


def bundled_tokens(photo: PhotoFeatures) -> torch.Tensor:
    """Photo tokens (B, 196, 436) from the bundled encoder's features, side by side by channel."""
    size = (photo.mid.shape[-2], photo.mid.shape[-1])
    deep = functional.interpolate(photo.deep, size, mode="bilinear")
    local = functional.adaptive_avg_pool2d(photo.local, size)
    return torch.cat([photo.mid, deep, local], dim=1).flatten(2).transpose(1, 2)


def half_precision(device: str) -> AbstractContextManager[Any]:
    """Autocast to bfloat16 on a GPU, nothing on a CPU."""
    return torch.autocast("cuda", torch.bfloat16) if device.startswith("cuda") else nullcontext()


def pick(count: int, batch: int, generator: torch.Generator) -> torch.Tensor:
    """Indices (batch,) below count, with replacement."""
    return torch.randint(count, (batch,), generator=generator)


def pick_tokens(choices: tuple[int, ...], generator: torch.Generator) -> int:
    """A token count of the step: models that see many of them work with any."""
    return choices[int(pick(len(choices), 1, generator))]


class VAETask:
    """Truncated distances at random points, and KL to the standard normal.

    Args:
        model: The VAE.
        train: Shapes to train on.
        held_out: Shapes to measure on.
        tokens: Token counts, one drawn per step.
        queries: Points per shape and step.
        device: Where the model is.
    """

    def __init__(
        self,
        model: VecSetVAE,
        train: Shapes,
        held_out: Shapes,
        tokens: tuple[int, ...],
        queries: int = 2048,
        device: str = "cpu",
    ) -> None:
        self.model, self.train, self.held_out = model, train, held_out
        self.tokens, self.queries, self.device = tuple(tokens), queries, device

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """L1 of the TSDF plus the warmed-up KL."""
        index = pick(len(self.train.surface), batch, generator)
        where = torch.randint(self.train.points.shape[1], (self.queries,), generator=generator)
        surface, salient = self.train.surface[index], self.train.salient[index]
        points, distance = self.train.points[index][:, where], self.train.distance[index][:, where]
        tokens = pick_tokens(self.tokens, generator)
        noise = torch.randn(batch, tokens, self.model.config.latent_channels, generator=generator)
        surface, salient, points, distance, noise = (
            x.to(self.device) for x in (surface, salient, points, distance, noise)
        )
        with half_precision(self.device):
            found = encode(self.model, surface, salient, tokens)
            value = -self.model.decode(found.sample(noise), points).float()
        truth = (distance / self.model.config.truncation).clamp(-1, 1)
        kl = found.kl().float().mean()
        warm = min(1.0, (generator.initial_seed() % SEED_STRIDE + 1) / KL_WARMUP)
        l1 = (value - truth).abs().mean()
        return l1 + KL_WEIGHT * warm * kl, {"l1": l1.item(), "kl": kl.item()}

    def evaluate(self, model: torch.nn.Module) -> dict[str, float]:
        """Share of held-out points with the right sign, and IoU of the inside, over points."""
        right, both, either = 0.0, 0, 0
        for i in range(len(self.held_out.surface)):
            surface, salient, points, distance = (
                x[i : i + 1].to(self.device)
                for x in (
                    self.held_out.surface, self.held_out.salient,
                    self.held_out.points, self.held_out.distance,
                )
            )  # fmt: skip
            latents = encode(model, surface, salient, max(self.tokens)).mean
            inside, truth = model.field(latents)(points) < 0, distance < 0  # type: ignore[operator]
            right += float((inside == truth).float().mean())
            both += int((inside & truth).sum())
            either += int((inside | truth).sum())
        return {"sign_share": right / len(self.held_out.surface), "iou": both / max(either, 1)}


class DiTTask:
    """Velocity loss of the stream DiT on latents that the frozen VAE encodes on the way.

    Args:
        model: The DiT.
        vae: Trained VAE.
        shapes: Training shapes.
        photos: Their photos' tokens.
        held_out: Shapes and photos to measure on.
        tokens: Token counts, one drawn per step; more of them get noisier times.
        device: Where the models are.
    """

    def __init__(
        self,
        model: StreamDiT,
        vae: VecSetVAE,
        shapes: Shapes,
        photos: Photos,
        held_out: tuple[Shapes, Photos],
        tokens: tuple[int, ...],
        device: str = "cpu",
    ) -> None:
        self.model, self.vae = model, vae.eval().requires_grad_(False)
        torch.nn.Module.to(self.vae, device)
        self.shapes, self.photos, self.held_out = shapes, photos, held_out
        self.tokens, self.device = tuple(tokens), device
        with torch.no_grad():
            some = encode(
                self.vae, shapes.surface[:8].to(device), shapes.salient[:8].to(device),
                max(self.tokens),
            )  # fmt: skip
        self.scale = float(some.mean.std())
        """Standard deviation of the latents; the flow works on latents over this."""

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of a random batch."""
        return self._loss(self.model, self.shapes, self.photos, batch, generator, 0.1), {}

    def evaluate(self, model: torch.nn.Module) -> dict[str, float]:
        """Loss on held-out photos, with the same noise every time."""
        generator = torch.Generator().manual_seed(0)
        count = min(32, len(self.held_out[1].owner))
        return {"loss": float(self._loss(model, *self.held_out, count, generator, 0.0))}

    def _loss(
        self,
        model: torch.nn.Module,
        shapes: Shapes,
        photos: Photos,
        batch: int,
        generator: torch.Generator,
        drop: float,
    ) -> torch.Tensor:
        index = pick(len(photos.owner), batch, generator)
        owner = photos.owner[index]
        tokens = pick_tokens(self.tokens, generator)
        condition = photos.tokens[index].float().to(self.device)
        surface, salient = (x[owner].to(self.device) for x in (shapes.surface, shapes.salient))
        with half_precision(self.device):
            with torch.no_grad():
                clean = encode(self.vae, surface, salient, tokens).mean.float() / self.scale
            return flow_loss(model, clean, condition, generator, length_shift(tokens), drop)


def encode(model: Any, surface: torch.Tensor, salient: torch.Tensor, tokens: int) -> Any:
    """Latent distribution; edge points are read by the models that have a second attention."""
    return model.encode(surface, tokens, salient if model.config.salient else None)
