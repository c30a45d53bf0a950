"""Colours for surface that no view shows: attention over seen surface points, learned.

As in Seed3D-UV the model fills texels from their place on the object, not from their place in the
atlas: a query is a surface point with its normal, its tokens are seen points that are near it or
near one of its mirror images. It mixes their colours and invents none, so what all of them agree
on comes back exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

FRAMES = np.array([[1, 1, 1], [1, -1, 1], [-1, -1, 1], [-1, 1, 1]], np.float32)
"""Itself, mirrored left-right, turned half around z, mirrored front-back."""
GROUPS = 5
"""Candidates: near in place and normal; on the other side of a board; near each mirror image."""
COUNTS = (4, 4, 3, 3, 3)
"""Candidates per group."""
CANDIDATES = sum(COUNTS)
NORMAL_REACH = 0.12
"""Distance [canonical units] that counts as much as a quarter turn of the surface."""
SAME_PLACE = 0.04
"""Distance [canonical units] up to which a mirrored point and a seen one are compared."""
FEATURES = GROUPS + 14
CONTEXT = 12


@dataclass(frozen=True)
class Samples:
    """Points of a surface."""

    position: np.ndarray
    """(N, 3) float32, canonical frame."""
    normal: np.ndarray
    """(N, 3) float32 unit."""
    color: np.ndarray
    """(N, C) float32; the first three are sRGB in [0, 1]."""


@dataclass(frozen=True)
class Candidates:
    """What the network sees of N queries."""

    features: np.ndarray
    """(N, K, FEATURES) float32."""
    context: np.ndarray
    """(N, CONTEXT) float32."""
    index: np.ndarray
    """(N, K) int, seen point of each candidate."""


def find_candidates(position: np.ndarray, normal: np.ndarray, seen: Samples) -> Candidates:
    """Gather for each query the seen points that may tell its colour.

    Args:
        position: (N, 3) canonical frame.
        normal: (N, 3) unit.
        seen: At least 4 points; a few thousand.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(_place(seen.position, seen.normal))
    agreement = frame_agreement(seen, tree)
    mean = seen.color[:, :3].mean(axis=0)
    found, features = [], []
    for group, count in enumerate(COUNTS):
        frame = max(group - 1, 0)
        p, n = position * FRAMES[frame], normal * FRAMES[frame]
        n = -n if group == 1 else n
        _, index = tree.query(_place(p, n), k=count)
        found.append(index)
        offset = seen.position[index] - p[:, None]  # (N, count, 3)
        distance = np.linalg.norm(offset, axis=2, keepdims=True)
        alike = np.einsum("nkc,nc->nk", seen.normal[index], n)[..., None]
        color = seen.color[index][..., :3]
        kind = np.zeros((len(p), count, GROUPS), np.float32)
        kind[..., group] = 1.0
        trust = np.broadcast_to(agreement[frame], (len(p), count, 2))
        parts = [kind, 4.0 * offset, 4.0 * distance, np.log(distance + 0.005), alike]
        features.append(np.concatenate([*parts, color, color - mean, trust], axis=2))
    spread = seen.color[:, :3].std(axis=0)
    whole = np.broadcast_to(np.concatenate([mean, spread]), (len(position), 6))
    context = np.concatenate([position, normal, whole], axis=1)
    return Candidates(
        np.concatenate(features, axis=1).astype(np.float32),
        context.astype(np.float32),
        np.concatenate(found, axis=1),
    )


def frame_agreement(seen: Samples, tree: object) -> np.ndarray:
    """How well colours match their mirror images where both are seen.

    Returns:
        (4, 2): median difference in sRGB (0.2 where nothing can be compared), share compared.
    """
    step = max(1, len(seen.position) // 500)
    p, n, color = seen.position[::step], seen.normal[::step], seen.color[::step, :3]
    out = np.zeros((len(FRAMES), 2), np.float32)
    for i, frame in enumerate(FRAMES[1:], start=1):
        distance, index = tree.query(_place(p * frame, n * frame))  # type: ignore[attr-defined]
        both = distance < SAME_PLACE
        apart = np.abs(color[both] - seen.color[index[both], :3]).max(axis=1)
        out[i] = (np.median(apart) if both.sum() >= 20 else 0.2), both.mean()
    out[0] = 0.0, 1.0
    return out


class CompletionNet(nn.Module):
    """Weights of the candidates of each query.

    Args:
        width: Width of the tokens.
        heads: Attention heads.
        layers: Self-attention layers among a query's candidates.
    """

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.config = {"width": width, "heads": heads, "layers": layers}
        self.token_in = nn.Linear(FEATURES, width)
        self.context_in = nn.Linear(CONTEXT, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.score = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, features: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """Features (N, K, F) and context (N, X) to weights (N, K) that sum to 1."""
        x = self.token_in(features) + self.context_in(context)[:, None]
        for block in self.blocks:
            x = block(x)
        return self.score(x)[..., 0].softmax(dim=-1)


def complete_colors(
    net: CompletionNet, position: np.ndarray, normal: np.ndarray, seen: Samples
) -> np.ndarray:
    """Return values (N, C) float32 for queries (N, 3); arguments as `mix_by_frame`."""
    return mix_by_frame(net, position, normal, seen)[..., :-1].sum(axis=1)


@torch.no_grad()
def mix_by_frame(
    net: CompletionNet, position: np.ndarray, normal: np.ndarray, seen: Samples
) -> np.ndarray:
    """Mix the candidates of each frame apart, so that a sharper source can stand in for one.

    Args:
        net: In evaluation mode.
        position: (N, 3) canonical frame.
        normal: (N, 3) unit.
        seen: At least 4 points.

    Returns:
        (N, 4, C + 1) float32: per row of FRAMES the values times their weights, and the weight;
        the weights of a query sum to 1.
    """
    values = np.column_stack([seen.color, np.ones(len(seen.color), np.float32)])
    frame_of = np.repeat(np.maximum(np.arange(GROUPS) - 1, 0), COUNTS)  # (K,)
    onehot = np.eye(len(FRAMES), dtype=np.float32)[frame_of]
    out = np.empty((len(position), len(FRAMES), values.shape[1]), np.float32)
    for part in np.array_split(np.arange(len(position)), max(1, -(-len(position) // 4096))):
        found = find_candidates(position[part], normal[part], seen)
        weight = net(torch.from_numpy(found.features), torch.from_numpy(found.context)).numpy()
        out[part] = np.einsum("nk,kf,nkc->nfc", weight, onehot, values[found.index])
    return out


def _place(position: np.ndarray, normal: np.ndarray) -> np.ndarray:
    return np.column_stack([position, (NORMAL_REACH / 2**0.5) * normal])
