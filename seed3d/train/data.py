"""Training records on disk to tensors in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seed3d.data.duplicates import duplicate_keys
from seed3d.data.split import Split
from seed3d.errors import InputError
from seed3d.geometry.cameras import mirrored as mirrored_cameras
from seed3d.geometry.photo import PhotoFeatures


@dataclass(frozen=True)
class Objects:
    """All objects of a split and all their photos, as features."""

    keys: list[str]
    attributes: list[dict[str, Any]]
    tsdf: torch.Tensor
    """(O, R, R, R) int8; 127 is +TRUNCATION."""
    photos: PhotoFeatures
    """Of N photos, float16."""
    cameras: torch.Tensor
    """(N, 6), see seed3d.geometry.cameras."""
    owner: torch.Tensor
    """(N,) index of the object each photo shows."""


def record_paths(folder: Path) -> list[Path]:
    """Every record below `folder`, sorted.

    Raises:
        InputError: There is none.
    """
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise InputError(f"{folder}: no records; run `seed3d data build --records {folder}`")
    return paths


def read_attributes(record: Any) -> dict[str, Any]:
    """The JSON attributes of an open record."""
    return json.loads(record["attributes"].tobytes())


def add_features(folder: Path, features: Path) -> Iterator[int]:
    """Encode the photos of each record that has no feature file yet; yields the count done."""
    from seed3d.image.encoder import load_encoder

    encoder = load_encoder()
    features.mkdir(parents=True, exist_ok=True)
    for count, path in enumerate(record_paths(folder)):
        target = features / path.name
        if not target.exists():
            _write_features(path, target, encoder)
        yield count + 1


def _write_features(path: Path, target: Path, encoder: Any) -> None:
    from seed3d.geometry.photo import local_maps

    with np.load(path) as record:
        rgb, mask = record["rgb"] / np.float32(255), record["mask"] / np.float32(255)
        cameras, attributes = record["cameras"], record["attributes"]
    rgb, mask = np.concatenate([rgb, rgb[:, :, ::-1]]), np.concatenate([mask, mask[:, :, ::-1]])
    with torch.no_grad():
        maps = encoder.features(torch.from_numpy(rgb).permute(0, 3, 1, 2).contiguous())
    local = np.stack([local_maps(r, m) for r, m in zip(rgb, mask, strict=True)])
    part = target.with_suffix(".part.npz")
    np.savez(
        part,
        mid=maps.stride16.numpy().astype(np.float16),
        deep=maps.stride32.numpy().astype(np.float16),
        pooled=maps.pooled.numpy().astype(np.float16),
        local=local.astype(np.float16),
        cameras=np.concatenate([cameras, mirrored_cameras(torch.from_numpy(cameras)).numpy()]),
        attributes=attributes,
    )
    part.replace(target)


def load_objects(
    features: Path,
    splits: tuple[Split, ...],
    mirrored: bool = False,
    exclude: bool = True,
    variants: bool = True,
    more: Sequence[Path] = (),
) -> Objects:
    """Load every feature file of the given splits, and its record's grid, into memory.

    Args:
        features: Folder that add_features wrote; the records are in "objects" beside it.
        splits: Which objects.
        mirrored: Also every object mirrored in y, as an object of its own named "<key>~".
        exclude: Leave out training objects that `seed3d data duplicates` listed.
        variants: Also the stretched variants of the training furniture.
        more: Further such folders, whose objects follow. A model may be in several of them, with
            other photos: it counts as another object.
    """
    chosen = [one for folder in (features, *more) for one in _chosen(folder, splits, exclude)]
    if not variants:
        chosen = [one for one in chosen if "+" not in one[0].stem]
    turns = 1 + mirrored
    objects, views = turns * len(chosen), turns * sum(count for *_, count in chosen)
    keys: list[str] = []
    attributes, owner = [], []
    arrays: dict[str, np.ndarray] = {}

    def put(name: str, length: int, start: int, value: np.ndarray) -> None:
        # Straight into its place: a list of arrays, joined at the end, takes twice the memory.
        if name not in arrays:
            arrays[name] = np.empty((length, *value.shape[1:]), value.dtype)
        arrays[name][start : start + len(value)] = value

    start = 0
    for path, row, count in chosen:
        with np.load(path.parent.parent / "objects" / path.name) as source:
            grid = source["tsdf"]
        with np.load(path) as record:
            for name in ("cameras", *PhotoFeatures._fields):
                put(name, views, start, record[name][: turns * count])  # mirrored ones are last
        start += turns * count
        for turn in range(turns):
            put("tsdf", objects, len(keys), (grid[:, ::-1] if turn else grid)[None])
            owner += [len(keys)] * count
            keys.append(path.stem + "~" * turn)
            attributes.append(row)
    return Objects(
        keys,
        attributes,
        torch.from_numpy(arrays["tsdf"]),
        PhotoFeatures(*(torch.from_numpy(arrays[name]) for name in PhotoFeatures._fields)),
        torch.from_numpy(arrays["cameras"]),
        torch.tensor(owner),
    )


def _chosen(
    features: Path, splits: tuple[Split, ...], exclude: bool
) -> list[tuple[Path, dict[str, Any], int]]:
    """Feature files of the splits with their attributes and number of photos, mirrored apart."""
    twins = duplicate_keys(features, "train") if exclude else set()
    rows = []
    for path in record_paths(features):
        if path.name.endswith(".part.npz"):
            continue
        with np.load(path) as record:
            row = read_attributes(record)
            if row["split"] not in splits:
                continue
            if row["split"] == "train" and path.stem.partition("+")[0] in twins:
                continue  # a twin's stretched variants go with it
            rows.append((path, row, len(record["cameras"]) // 2))
    if not rows:
        raise InputError(f"{features}: no record of the splits {splits}")
    return rows
