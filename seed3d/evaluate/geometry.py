"""Photo to shape on held-out objects: generated, nearest training shape, best training shape."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.config import GeometryConfig
from seed3d.data.split import Split
from seed3d.errors import InputError
from seed3d.evaluate.shapes import angle_error_deg, grid_iou, surface_scores
from seed3d.types import Mesh, Shape, Subject

VIEWS = 2


@dataclass(frozen=True)
class Library:
    """Training shapes with the pooled features of their photos, for the baselines."""

    grids: np.ndarray
    """(O, R, R, R) int8."""
    pooled: np.ndarray
    """(N, 1280) unit features."""
    owner: np.ndarray
    """(N,) object of each photo."""


def evaluate_geometry(
    records: Path,
    features: Path,
    split: Split,
    config: GeometryConfig,
    limit: int | None = None,
    kind: str = "all",
) -> Iterator[dict[str, Any]]:
    """Yield one row per photo: VIEWS random views of every object of the split.

    Args:
        records: Folder of training records.
        features: Folder of their features, for the baselines.
        split: Which objects.
        config: Of the generator.
        limit: Most objects: half furniture, half procedural, each spread evenly.
        kind: "furniture", "procedural" or "all".

    Raises:
        InputError: No record of that split.
    """
    from seed3d.data.duplicates import duplicate_keys
    from seed3d.train.data import load_objects, read_attributes, record_paths

    twins = duplicate_keys(features, "held_out")  # nearly equal to a training object: no test
    train = load_objects(features, ("train",))
    pooled = train.photos.pooled.float().numpy()
    library = Library(train.tsdf.numpy(), _unit(pooled), train.owner.numpy())
    groups: dict[bool, list[Path]] = {False: [], True: []}
    for path in record_paths(records):
        procedural = path.name.startswith("procedural_")
        if path.stem in twins or (kind != "all" and procedural != (kind == "procedural")):
            continue
        with np.load(path) as record:
            if read_attributes(record)["split"] == split:
                groups[procedural].append(path)
    paths = spread(groups[False], groups[True], limit)
    if not paths:
        raise InputError(f"{records}: no record of the split {split!r}")
    for path in paths:
        yield from _object_rows(path, library, config)


def spread(first: list[Path], second: list[Path], limit: int | None) -> list[Path]:
    """At most `limit` of both together, half from each where they last, spread evenly."""
    total = len(first) + len(second)
    limit = min(limit or total, total)
    half = max(min(limit // 2, len(first)), limit - len(second))
    shares = ((first, half), (second, limit - half))
    return [g[i] for g, n in shares for i in np.linspace(0, len(g) - 1, n).astype(int)]


def _object_rows(path: Path, library: Library, config: GeometryConfig) -> Iterator[dict[str, Any]]:
    from seed3d.geometry.surface import extract
    from seed3d.train.data import read_attributes

    with np.load(path) as record:
        attributes = read_attributes(record)
        truth = record["tsdf"].astype(np.float32) / 127
        photos = list(zip(record["rgb"], record["mask"], record["cameras"], strict=True))
    true_mesh = extract(truth)
    best = max(range(len(library.grids)), key=lambda i: grid_iou(library.grids[i], truth))
    for view, (rgb, mask, camera) in enumerate(photos[:VIEWS]):
        subject = Subject(rgb / np.float32(255), mask / np.float32(255), "alpha")
        start = time.perf_counter()
        shape = _shape(subject, config)
        seconds = time.perf_counter() - start
        nearest = _nearest(subject, library)
        yield {
            "key": path.stem, "view": view, "category": attributes["category"],
            "seconds": seconds,
            "autoencoder_iou": _autoencoder_iou(truth, config.model),
            "watertight": bool(shape.mesh.to_trimesh().is_watertight),
            "azimuth_error_deg": angle_error_deg(shape.camera.azimuth_rad, float(camera[0])),
            "has_front": attributes["has_front"],
            "size_ratio": float(shape.size_m.value) / max(attributes["size_m"]),
            "generated": {"silhouette_iou": shape.silhouette_iou,
                          **_scores(shape.mesh, true_mesh, truth)},
            "nearest": _grid_scores(library.grids[nearest], true_mesh, truth),
            "best_training_shape": _grid_scores(library.grids[best], true_mesh, truth),
        }  # fmt: skip


def _shape(subject: Subject, config: GeometryConfig) -> Shape:
    from seed3d.geometry.generate import shape_from_photo

    return shape_from_photo(subject, config)


def _scores(mesh: Mesh, true_mesh: Mesh, truth: np.ndarray) -> dict[str, float]:
    from seed3d.geometry.tsdf import signed_distance_grid

    grid = signed_distance_grid(mesh, len(truth))
    return {"iou": grid_iou(grid, truth), **surface_scores(mesh, true_mesh)}


def _grid_scores(grid: np.ndarray, true_mesh: Mesh, truth: np.ndarray) -> dict[str, float]:
    from seed3d.geometry.surface import extract

    mesh = extract(grid.astype(np.float32) / 127)
    return {"iou": grid_iou(grid, truth), **surface_scores(mesh, true_mesh)}


def _autoencoder_iou(truth: np.ndarray, model_name: str) -> float:
    import torch

    from seed3d.geometry.model import load_model

    model = load_model(model_name).autoencoder
    with torch.no_grad():
        back = model.decode(model.encode(torch.from_numpy(truth)[None]))[0].numpy()
    return grid_iou(back, truth)


def _nearest(subject: Subject, library: Library) -> int:
    from seed3d.geometry.photo import encode_photo
    from seed3d.image.encoder import load_encoder

    pooled = encode_photo(subject.rgb, subject.mask, load_encoder()).pooled.numpy()
    return int(library.owner[int((library.pooled @ _unit(pooled)[0]).argmax())])


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and medians over rows of evaluate_geometry."""
    total: dict[str, Any] = {
        "count": len({row["key"] for row in rows}),
        "photos": len(rows),
        "autoencoder": {"iou_mean": _mean(row["autoencoder_iou"] for row in rows)},
    }
    for name in ("generated", "nearest", "best_training_shape"):
        keys = rows[0][name]
        total[name] = {f"{k}_mean": _mean(row[name][k] for row in rows) for k in keys}
    front = [row["azimuth_error_deg"] for row in rows if row["has_front"]]
    ratios = [abs(np.log(row["size_ratio"])) for row in rows]
    total["camera"] = {"azimuth_error_deg_median": float(np.median(front)) if front else None}
    total["size_error_median"] = float(np.exp(np.median(ratios)) - 1)
    total["watertight_share"] = _mean(row["watertight"] for row in rows)
    total["seconds_image_to_mesh_median"] = float(np.median([row["seconds"] for row in rows]))
    return total


def summarise_by(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Tables of `summarise` by kind (furniture, procedural) and by category, main figures only."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    categories: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kind = "procedural" if row["key"].startswith("procedural_") else "furniture"
        kinds.setdefault(kind, []).append(row)
        categories.setdefault(row["category"], []).append(row)
    return {
        "by_kind": {name: summarise(group) for name, group in sorted(kinds.items())},
        "by_category": {
            name: {
                "photos": len(group),
                "generated_iou": round(_mean(row["generated"]["iou"] for row in group), 3),
                "nearest_iou": round(_mean(row["nearest"]["iou"] for row in group), 3),
                "generated_f_score_05": round(
                    _mean(r["generated"]["f_score_05"] for r in group), 3
                ),
            }
            for name, group in sorted(categories.items())
        },
    }


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
