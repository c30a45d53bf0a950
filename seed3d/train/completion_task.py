"""What the loop trains for unseen surface: weights over seen points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seed3d.texture.models.completion import (
    COUNTS,
    Candidates,
    CompletionNet,
    Samples,
    find_candidates,
)
from seed3d.train.texture_data import read_records


@dataclass(frozen=True)
class Queries:
    """Unseen points of all objects of a split with their candidates."""

    features: torch.Tensor
    """(N, K, F) float16."""
    context: torch.Tensor
    """(N, X) float16."""
    colors: torch.Tensor
    """(N, K, 3) sRGB of the candidates, float16."""
    truth: torch.Tensor
    """(N, 3) sRGB, float16."""
    owner: torch.Tensor
    """(N,) object of each query."""


def load_queries(folder: Path, split: str, per_object: int = 128) -> Queries:
    """Find the candidates of at most `per_object` unseen points of every object of a split."""
    parts: list[tuple[Candidates, np.ndarray, np.ndarray]] = []
    owner: list[np.ndarray] = []
    for number, (_, _, record) in enumerate(read_records(folder, split)):
        seen, query = read_samples(record, "seen"), read_samples(record, "query")
        count = min(per_object, len(query.position))
        if count == 0 or len(seen.position) < 50:
            continue
        found = find_candidates(query.position[:count], query.normal[:count], seen)
        parts.append((found, seen.color[found.index], query.color[:count]))
        owner.append(np.full(count, number))
    return Queries(
        torch.from_numpy(np.concatenate([p[0].features for p in parts]).astype(np.float16)),
        torch.from_numpy(np.concatenate([p[0].context for p in parts]).astype(np.float16)),
        torch.from_numpy(np.concatenate([p[1] for p in parts]).astype(np.float16)),
        torch.from_numpy(np.concatenate([p[2] for p in parts]).astype(np.float16)),
        torch.from_numpy(np.concatenate(owner)),
    )


def read_samples(record: Any, name: str) -> Samples:
    """Return the points ``seen`` or ``query`` of a record of `texture_data`."""
    normal = record[f"{name}_normal"].astype(np.float32) / 127
    return Samples(
        record[f"{name}_position"].astype(np.float32),
        normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-6),
        record[f"{name}_color"].astype(np.float32) / 255,
    )


class CompletionTask:
    """Squared and absolute error of the mixed colour."""

    def __init__(self, model: CompletionNet, train: Queries, held_out: Queries) -> None:
        self.model, self.train, self.held_out = model, train, held_out

    def loss(self, batch: int, generator: torch.Generator) -> tuple[torch.Tensor, dict]:
        """Loss of random queries of all objects."""
        index = torch.randint(len(self.train.truth), (batch,), generator=generator)
        guess = mixed(self.model, self.train, index)
        error = guess - self.train.truth[index].float()
        return error.abs().mean() + 2.0 * error.square().mean(), {"mae": error.abs().mean().item()}

    def evaluate(self, model: Any) -> dict[str, float]:
        """PSNR on unseen points beside the baselines."""
        return completion_scores(model, self.held_out)


def mixed(model: Any, queries: Queries, index: torch.Tensor) -> torch.Tensor:
    """Colours (N, 3) the model gives to some queries."""
    weight = model(queries.features[index].float(), queries.context[index].float())
    return torch.einsum("nk,nkc->nc", weight, queries.colors[index].float())


def completion_scores(model: Any, queries: Queries) -> dict[str, float]:
    """Mean over objects of PSNR [dB] on their unseen points: model, nearest, mirror + nearest."""
    with torch.no_grad():
        everything = torch.arange(len(queries.truth)).split(4096)
        learned = torch.cat([mixed(model, queries, index) for index in everything])
    colors = queries.colors.float()
    first = np.cumsum((0, *COUNTS))[:-1]
    # Feature GROUPS + 3 is the scaled distance of a candidate.
    distance = queries.features[..., len(COUNTS) + 3].float() / 4.0
    nearest = colors[:, first[0]]
    mirrored = torch.where((distance[:, first[2]] < 0.03)[:, None], colors[:, first[2]], nearest)
    rows = {"model": learned, "nearest": nearest, "mirror_nearest": mirrored}
    out = {}
    for name, value in rows.items():
        error = (value - queries.truth.float()).square().mean(dim=1)
        owners = queries.owner.unique()
        each = torch.stack([error[queries.owner == o].mean() for o in owners])
        out[f"psnr_{name}"] = round((-10 * (each + 1e-4).log10()).mean().item(), 3)
        out[f"mae_{name}"] = round((value - queries.truth.float()).abs().mean().item(), 5)
    return out
