"""report.json: everything known about one asset, and timings.json: what differs per run."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.types import Asset, Check, Fallback, Mesh, Primitive, Verdict

REPORT, TIMINGS = "report.json", "timings.json"
FORMAT, FORMAT_VERSION = "seed3d-asset", 1

_PACKAGES = (
    "coacd",
    "diffusers",
    "fast-simplification",
    "manifold3d",
    "mujoco",
    "numpy",
    "pillow",
    "pybullet",
    "scikit-image",
    "scipy",
    "torch",
    "trimesh",
    "usd-core",
    "vhacdx",
    "xatlas",
)


def report_json(
    asset: Asset,
    verdict: Verdict | None,
    formats: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
) -> bytes:
    """Return report.json: sorted keys, no times, the same bytes for the same asset.

    Args:
        asset: The asset. Link frame, metres, kilograms.
        verdict: Result of the engine checks, or None where they haven't run.
        formats: Formats written beside the report.
        files: Path to SHA-256 of every other file of the asset.
    """
    data = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "name": asset.name,
        "versions": versions(),
        "inputs": asset.inputs,
        "estimates": {key: dataclasses.asdict(e) for key, e in asset.estimates.items()},
        "fallbacks": [dataclasses.asdict(f) for f in all_fallbacks(asset)],
        "mesh": _mesh_facts(asset.mesh),
        "atlas": {"vertices": len(asset.atlas.vertex), "utilisation": asset.atlas.utilisation},
        "textures": {
            "size": list(asset.maps.base_color.shape[:2]),
            "seen_share": asset.maps.seen_share,
        },
        "collision": {
            "volume_ratio": asset.collision.volume_ratio,
            "measures": asset.collision.measures,
            "hulls": [
                {**_mesh_facts(hull), **_primitive_facts(asset.collision.primitive(i))}
                for i, hull in enumerate(asset.collision.hulls)
            ],
        },
        "body": dataclasses.asdict(asset.body),
        "camera": dataclasses.asdict(asset.camera) if asset.camera else None,
        "formats": list(formats),
        "files": dict(files or {}),
        "verdict": _verdict_facts(verdict) if verdict else None,
    }
    return dump(data)


def timings_json(asset: Asset) -> bytes:
    """Return timings.json: seconds per stage and the machine they were measured on."""
    machine = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    return dump({"timings_s": asset.timings_s, "machine": machine})


def dump(data: Any) -> bytes:
    """Return plain JSON with sorted keys; NumPy values become lists, NaN and inf become text."""
    return (json.dumps(_plain(data), indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def load_report(folder: str | Path) -> dict[str, Any]:
    """Return the report of an asset folder.

    Raises:
        InputError: No report there, or not one of this format.
    """
    path = Path(folder) / REPORT
    data = _read_json(path)
    if data.get("format") != FORMAT or data.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{path}: got format {data.get('format')!r} version {data.get('format_version')!r}; "
            f"wanted {FORMAT!r} version {FORMAT_VERSION}. Generate the asset again."
        )
    return data


def load_timings(folder: str | Path) -> dict[str, float]:
    """Return seconds per stage, empty where the folder has no timings.json."""
    path = Path(folder) / TIMINGS
    return dict(_read_json(path).get("timings_s", {})) if path.is_file() else {}


def load_verdict(report: Mapping[str, Any]) -> Verdict | None:
    """Return the verdict that a report holds."""
    data = report.get("verdict")
    return Verdict(tuple(Check(**check) for check in data["checks"])) if data else None


def all_fallbacks(asset: Asset) -> tuple[Fallback, ...]:
    """Return the fallbacks of the asset and its parts, each once, in order."""
    parts = (asset.atlas, asset.maps, asset.collision)
    found = asset.fallbacks + tuple(f for part in parts for f in part.fallbacks)
    return tuple(dict.fromkeys(found))


def versions() -> dict[str, str]:
    """Return the installed version of every package that can change a result."""
    import seed3d

    found = {"seed3d": seed3d.__version__}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _mesh_facts(mesh: Mesh) -> dict[str, Any]:
    stored = mesh.vertices.astype(np.float32).astype(np.float64)  # as the files hold it
    mesh = Mesh(stored, mesh.faces)
    body = mesh.to_trimesh()
    return {
        "vertices": len(mesh.vertices),
        "faces": len(mesh.faces),
        "extents_m": mesh.extents,
        "area_m2": float(body.area),
        "volume_m3": float(body.volume),
        "watertight": bool(body.is_watertight),
    }


def _primitive_facts(primitive: Primitive | None) -> dict[str, Any]:
    return {"primitive": dataclasses.asdict(primitive)} if primitive else {}


def _verdict_facts(verdict: Verdict) -> dict[str, Any]:
    checks = [dataclasses.asdict(check) for check in verdict.checks]
    return {"passed": verdict.passed, "checks": checks}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: got {error.strerror}; wanted an asset folder that Seed3D wrote"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: got broken JSON ({error}). Generate the asset again.") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: got a JSON {type(data).__name__}; wanted an object")
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(str(k)): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [_plain(v) for v in items]
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else str(value)
    if isinstance(value, PurePath):
        return value.as_posix()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, str):  # a file name that isn't valid text must not stop the report
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, int):
        return value
    raise TypeError(f"report: got a {type(value).__name__} ({value!r}); wanted plain data")


def made_by(*models: str) -> dict[str, Any]:
    """The command, version, commit (of a checkout) and checkpoint hashes behind a table."""
    import subprocess
    import sys
    from pathlib import Path

    from seed3d import __version__
    from seed3d.checkpoints import model_info

    root = Path(__file__).parent.parent
    commit = ""
    if (root / ".git").exists():
        git = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]), "version": __version__,
        "commit": commit, "checkpoints": {name: model_info(name).sha256 for name in models},
    }  # fmt: skip
