"""Base-colour views of the sides a photo doesn't show: a multi-modal diffusion transformer.

As in Seed3D-MV everything is in context: noisy target views are one stream of diffusers' MMDiT
blocks (Esser et al., arXiv:2403.03206), their normal and canonical-coordinate renders and the
reference photo are the other. Noisy and geometry tokens have positions of their own. Rectified
flow, clean prediction (`seed3d.geometry.flow`).

Not bundled: no trained weights ship with this project. `scripts/train_texture.py multiview`
trains it at any size; the size is a configuration.
"""

from __future__ import annotations

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from diffusers.models.attention import JointTransformerBlock
from diffusers.models.embeddings import TimestepEmbedding, get_2d_sincos_pos_embed
from diffusers.models.normalization import AdaLayerNormContinuous
from torch import nn
from torch.nn import functional

from seed3d.geometry import flow
from seed3d.geometry.layers import sinusoid

CONDITION_DROP = 0.1
"""Share of the training samples that see no reference photo (classifier-free guidance)."""


class MultiViewDiT(ModelMixin, ConfigMixin):
    """Predicts clean views from noisy ones, given geometry and a reference photo.

    Args:
        views: Target views V, at fixed places around the object.
        size: Side of a view S, in pixels or, behind an image autoencoder, in latents.
        channels: Channels C of a view.
        geometry_channels: Channels G of a view's geometry: normal and coordinates.
        patch: Side of a token's patch.
        width: Width of the transformer.
        heads: Attention heads.
        layers: MMDiT blocks.
    """

    @register_to_config
    def __init__(
        self,
        views: int = 4,
        size: int = 48,
        channels: int = 3,
        geometry_channels: int = 6,
        patch: int = 6,
        width: int = 192,
        heads: int = 4,
        layers: int = 4,
    ) -> None:
        super().__init__()
        side = size // patch
        self.side, self.patch, self.channels = side, patch, channels
        self.view_in = nn.Linear(channels * patch**2, width)
        self.geometry_in = nn.Linear(geometry_channels * patch**2, width)
        self.photo_in = nn.Linear((channels + 1) * patch**2, width)
        place = torch.as_tensor(get_2d_sincos_pos_embed(width, side, output_type="pt"))
        self.register_buffer("place", place.float(), persistent=False)  # (P, D)
        # Own positions for noisy, geometry and photo tokens; one vector per view.
        self.noisy_view = nn.Parameter(torch.randn(views, 1, width) * 0.02)
        self.geometry_view = nn.Parameter(torch.randn(views, 1, width) * 0.02)
        self.photo_view = nn.Parameter(torch.randn(1, width) * 0.02)
        self.null_photo = nn.Parameter(torch.zeros(1, width))
        self.time_in = TimestepEmbedding(256, width)
        self.blocks = nn.ModuleList(
            JointTransformerBlock(
                width, heads, width // heads, context_pre_only=i == layers - 1, qk_norm="rms_norm"
            )
            for i in range(layers)
        )
        self.norm_out = AdaLayerNormContinuous(width, width, elementwise_affine=False, eps=1e-6)
        self.proj_out = nn.Linear(width, channels * patch**2)
        nn.init.zeros_(self.proj_out.weight)
        nn.init.zeros_(self.proj_out.bias)

    def forward(
        self,
        noisy: torch.Tensor,
        sigma: torch.Tensor,
        geometry: torch.Tensor,
        photo: torch.Tensor,
        drop: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Predict the clean views.

        Args:
            noisy: (B, V, C, S, S).
            sigma: (B,) in [0, 1].
            geometry: (B, V, G, S, S) of the target views.
            photo: (B, C + 1, S, S): the reference and its mask.
            drop: (B,) bool, True where the photo is left out.

        Returns:
            (B, V, C, S, S).
        """
        batch, views = noisy.shape[:2]
        x = self.view_in(self._patches(noisy)) + self.place + self.noisy_view
        shape = self.geometry_in(self._patches(geometry)) + self.place + self.geometry_view
        seen = self.photo_in(self._patches(photo[:, None]))[:, 0]
        if drop is not None:
            seen = torch.where(drop[:, None, None], self.null_photo, seen)
        seen = seen + self.place + self.photo_view
        context = torch.cat([shape.flatten(1, 2), seen], dim=1)
        vector = self.time_in(sinusoid(sigma * 1000.0, 256)) + seen.mean(dim=1)
        hidden = x.flatten(1, 2)
        for block in self.blocks:
            context, hidden = block(hidden, context, vector)
        out = self.proj_out(self.norm_out(hidden, vector))
        return self._image(out.view(batch, views, self.side**2, -1))

    def _patches(self, image: torch.Tensor) -> torch.Tensor:
        """(B, V, C, S, S) to (B, V, P, C p^2)."""
        batch, views = image.shape[:2]
        flat = functional.unfold(image.flatten(0, 1), self.patch, stride=self.patch)
        return flat.transpose(1, 2).reshape(batch, views, self.side**2, -1)

    def _image(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, V, P, C p^2) to (B, V, C, S, S)."""
        batch, views = tokens.shape[:2]
        size = self.side * self.patch
        flat = tokens.flatten(0, 1).transpose(1, 2)
        image = functional.fold(flat, size, self.patch, stride=self.patch)
        return image.view(batch, views, self.channels, size, size)


def multiview_loss(
    model: MultiViewDiT,
    clean: torch.Tensor,
    geometry: torch.Tensor,
    photo: torch.Tensor,
    shift: float,
    generator: torch.Generator,
) -> torch.Tensor:
    """Velocity loss of a batch.

    Args:
        model: To train.
        clean: (B, V, C, S, S) true base colour in [-1, 1], or latents.
        geometry: As in `MultiViewDiT.forward`.
        photo: As in `MultiViewDiT.forward`.
        shift: Larger for larger views (more noise).
        generator: Of every draw.
    """
    batch = len(clean)
    sigma = flow.training_sigma(batch, shift, generator)
    noise = torch.randn(clean.shape, generator=generator)
    drop = torch.rand(batch, generator=generator) < CONDITION_DROP
    device = clean.device
    sigma, noise, drop = sigma.to(device), noise.to(device), drop.to(device)
    predicted = model(flow.noisy_at(clean, noise, sigma), sigma, geometry, photo, drop)
    return flow.loss(predicted, clean, sigma)


@torch.no_grad()
def sample_views(
    model: MultiViewDiT,
    geometry: torch.Tensor,
    photo: torch.Tensor,
    *,
    steps: int = 12,
    guidance: float = 1.5,
    shift: float = 2.0,
    seed: int = 0,
) -> torch.Tensor:
    """Generate the views (B, V, C, S, S) of B objects, each from noise of the same seed.

    Args:
        model: In evaluation mode.
        geometry: (B, V, G, S, S).
        photo: (B, C + 1, S, S).
        steps: Euler steps.
        guidance: Classifier-free guidance; 1 is off.
        shift: As in training.
        seed: Of the noise; an object's views don't depend on its batch.
    """
    batch, views = geometry.shape[:2]
    one = (1, views, model.channels, *geometry.shape[-2:])
    noise = torch.randn(one, generator=torch.Generator().manual_seed(seed))
    noise = noise.expand(batch, *one[1:]).to(geometry.device)

    def predict(x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        sigma = sigma.to(x.device)
        with_photo = model(x, sigma, geometry, photo)
        if guidance == 1.0:
            return with_photo
        everything = torch.ones(len(x), dtype=torch.bool, device=x.device)
        without = model(x, sigma, geometry, photo, everything)
        return without + guidance * (with_photo - without)

    return flow.sample(predict, noise, steps, shift)
