"""Training objects that are nearly the same as a held-out one.

Two objects are near-duplicates when they look alike (cosine of pooled image features over all
pairs of their photos) and fill the same space (volumetric IoU of their canonical grids), also
mirrored left for right. Either alone is no proof: two boxes fill the same space, two chairs in
one fabric look alike.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

LOOKS = 0.9
"""Cosine of photo features from which two objects look the same."""
SPACE = 0.9
"""IoU from which they fill the same space."""
FILE = "duplicates.json"


def near_duplicates(
    features: Path, held_out: Path | None = None, looks: float = LOOKS, space: float = SPACE
) -> list[dict[str, Any]]:
    """Pairs of a training object and a held-out one (val, test) that are nearly the same.

    Args:
        features: Folder of `seed3d data features`; the records are in "objects" beside it.
        held_out: Such a folder with the held-out objects; the same one where None.
        looks: Least cosine.
        space: Least IoU at 32^3.

    Returns:
        Rows train, held_out, cosine, iou, sorted by names.
    """
    from seed3d.train.data import load_objects

    train = load_objects(features, ("train",), exclude=False)
    held = load_objects(held_out or features, ("val", "test"), exclude=False)
    pooled = [_unit(o.photos.pooled.float().numpy()) for o in (train, held)]
    cosine = pooled[1] @ pooled[0].T  # photos x photos
    best = np.full((len(held.keys), len(train.keys)), -1.0, np.float32)
    np.maximum.at(best, (held.owner.numpy()[:, None], train.owner.numpy()[None]), cosine)
    rows = []
    solid = [_occupancy(o.tsdf.numpy()) for o in (train, held)]
    iou = np.maximum(_iou(solid[1], solid[0]), _iou(solid[1][:, :, ::-1], solid[0]))
    for h, t in np.argwhere((best >= looks) & (iou >= space)):
        rows.append(
            {"train": train.keys[t], "held_out": held.keys[h],
             "cosine": round(float(best[h, t]), 4), "iou": round(float(iou[h, t]), 4)}
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row["train"], row["held_out"]))


def write_duplicates(features: Path, rows: list[dict[str, Any]]) -> Path:
    """Write the pairs beside the records, where training and evaluation look for them."""
    path = features.parent / FILE
    path.write_text(json.dumps(rows, indent=1) + "\n")
    return path


def duplicate_keys(features: Path, side: str) -> set[str]:
    """Names of the training ("train") or held-out ("held_out") side of all listed pairs."""
    path = features.parent / FILE
    return {row[side] for row in json.loads(path.read_text())} if path.exists() else set()


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _occupancy(grids: np.ndarray) -> np.ndarray:
    """Inside (N, R/2, R/2, R/2) float32 of signed grids (N, R, R, R), majority of each 2^3."""
    n, r = grids.shape[:2]
    inside = (grids < 0).reshape(n, r // 2, 2, r // 2, 2, r // 2, 2)
    return (inside.sum(axis=(2, 4, 6)) >= 4).astype(np.float32)


def _iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU of every pair (A, B)."""
    x, y = a.reshape(len(a), -1), b.reshape(len(b), -1)
    both = x @ y.T
    return both / np.maximum(x.sum(1)[:, None] + y.sum(1)[None] - both, 1.0)
