"""Batch at size: corrupt files, three SIGKILLs, one worker against two, a dying Ray node.

Usage:
    python scripts/benchmark_batch.py                       200 photos, 10 of them corrupt
    python scripts/benchmark_batch.py --count 24 --ray      smaller, with the Ray part
    python scripts/benchmark_batch.py --kind mesh           boxes, cylinders and spheres: no model

The photos are variants (mirrored, turned, brighter) of three of those in examples/. Each run goes
through the command line; what is compared is every byte outside of .batch/runtime/. One worker
gets a quarter of the files: enough for its rate.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from PIL import Image, ImageEnhance

from seed3d.processes import children_cpu_s

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = ("bottle.png", "sofa.png", "teapot.png")
"""Those whose hulls stay few: the batch is measured here, not CoACD."""
LEAN = [
    "geometry.candidates=1", "geometry.fit_steps=0", "mesh.target_faces=1500",
    "physics.hull_threshold=0.3", "physics.max_hulls=24", "texture.size=128",
    "export.turntable_frames=0", "export.preview_size=128", "export.formats=urdf,mjcf",
    "verify.seconds=1.0",
]  # fmt: skip
"""On top of the smoke preset: the batch is measured here, not the models."""


def make_inputs(folder: Path, count: int, corrupt: int, kind: str = "photo") -> None:
    """Write `count` files in three folders, `corrupt` of them broken in different ways."""
    originals = [EXAMPLES / name for name in SHOWN]
    broken = corrupt_files(originals[0].read_bytes())
    suffix = ".png" if kind == "photo" else ".stl"
    for i in range(count):
        path = folder / "abc"[i % 3] / f"item{i // 3:03d}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if i % (count // corrupt) == count // corrupt // 2 and i // (count // corrupt) < corrupt:
            path.write_bytes(broken[i // (count // corrupt) % len(broken)])
        elif kind == "mesh":
            primitive(i).export(path)
        else:
            variant(originals[i % len(originals)], i // len(originals)).save(path)


def primitive(number: int) -> Any:
    """A box, cylinder or ball, a little larger with each number."""
    import trimesh

    size = 0.1 + 0.001 * number
    if number % 3 == 0:
        return trimesh.creation.box((size, 0.2, 0.1))
    if number % 3 == 1:
        return trimesh.creation.cylinder(size / 2, 0.2)
    return trimesh.creation.icosphere(radius=size / 2, subdivisions=2)


def variant(photo: Path, number: int) -> Image.Image:
    """The photo at 256 pixels, changed a little more with each number."""
    image = Image.open(photo)
    image = image.convert("RGBA" if image.mode in ("RGBA", "LA", "P") else "RGB")
    image.thumbnail((256, 256))
    if number % 2:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    rgb = ImageEnhance.Brightness(image.convert("RGB")).enhance(0.8 + 0.02 * (number % 20))
    if image.mode == "RGBA":
        rgb.putalpha(image.getchannel("A"))
        return rgb.rotate((number % 11) - 5)
    return rgb


def corrupt_files(png: bytes) -> list[bytes]:
    """Ten ways to be no photo."""
    header = png[:16] + (400_000).to_bytes(4, "big") * 2 + png[24:]  # a huge picture, wrong CRC
    return [
        b"", png[:100], png[: len(png) // 2], b"hello", b"%PDF-1.7\n", b"PK\x03\x04rest",
        b"\x00" * 5000, header, b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"version https://git-lfs.github.com/spec/v1\n",
    ]  # fmt: skip


def command(args: argparse.Namespace, out: Path, workers: int, inputs: str = "in") -> list[str]:
    sets = [x for one in [*LEAN, *args.sets] for x in ("--set", one)]
    return [sys.executable, "-m", "seed3d", "batch", str(args.work / inputs), "-o", str(out),
            "--preset", args.preset, "--workers", str(workers), *sets]  # fmt: skip


def run(args: argparse.Namespace, out: Path, workers: int, inputs: str = "in") -> dict[str, Any]:
    """One run to its end; exit code, seconds, throughput, memory."""
    start, before = time.perf_counter(), children_cpu_s()
    with (args.work / f"{out.name}.txt").open("a") as text:
        asked = command(args, out, workers, inputs)
        code = subprocess.run(asked, stderr=text, stdout=text).returncode
    seconds = time.perf_counter() - start
    cores = (children_cpu_s() - before) / seconds
    lines = log(out)
    return {
        "workers": workers,
        "items": len({x["name"] for x in lines}),
        "exit_code": code,
        "seconds": round(seconds, 1),
        "cores_used_mean": round(cores, 2),
        "items_per_minute": round(60 * sum(not x["kept"] for x in lines) / seconds, 2),
        "median_item_s": round(median(x["seconds"] for x in lines if not x["kept"]), 2),
        "peak_worker_gb": round(max(x["peak_bytes"] for x in lines) / 1e9, 2),
    }


def run_killed(args: argparse.Namespace, out: Path, kills: int) -> dict[str, Any]:
    """As `run` with two workers, ended with SIGKILL at even shares of the work."""
    at = []
    for kill in range(1, kills + 1):
        with (args.work / f"{out.name}.txt").open("a") as text:
            process = subprocess.Popen(command(args, out, 2), stderr=text, stdout=text)
            while process.poll() is None and made(out) < args.count * kill // (kills + 1):
                time.sleep(0.05)
            if process.poll() is not None:
                sys.exit(f"ended before kill {kill}; see {out.name}.txt")
            process.send_signal(signal.SIGKILL)
            process.wait()
        at.append(made(out))
    finished = {x["name"] for x in log(out)}
    last = run(args, out, 2)
    again = [x["name"] for x in log(out) if not x["kept"]]
    redone = sum(again.count(name) > 1 for name in finished)
    return {"killed_after_items": at, "finished_items_done_again": redone,
            "exit_code": last["exit_code"]}  # fmt: skip


def run_ray(args: argparse.Namespace, out: Path) -> dict[str, Any]:
    """Two raylets with one core each; the second is killed in the middle."""
    import ray
    from ray.cluster_utils import Cluster

    from seed3d.batch import run_batch
    from seed3d.batch.options import merged
    from seed3d.cli.options import overrides

    options: dict[str, Any] = {}
    for some in overrides({"preset": args.preset, "sets": [*LEAN, *args.sets]}):
        options = merged(options, some)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    ended: list[str] = []
    killed_after = 0

    def report(_: Any, outcome: dict[str, Any]) -> None:
        nonlocal killed_after
        ended.append(outcome.get("node", ""))
        if not killed_after and len(ended) >= args.count // 2 and second.node_id in ended:
            killed_after = len(ended)
            cluster.remove_node(second, allow_graceful=False)

    result = run_batch(args.work / "in", out, args.preset, options, ray="auto", report=report)
    ray.shutdown()
    cluster.shutdown()
    return {"seconds": round(result.seconds, 1), "node_killed_after_items": killed_after,
            "items_of_the_killed_node": ended.count(second.node_id),
            "items": len(result.rows)}  # fmt: skip


def log(out: Path) -> list[dict[str, Any]]:
    path = out / ".batch/runtime/log.jsonl"
    return [json.loads(x) for x in path.read_text().splitlines()] if path.exists() else []


def made(out: Path) -> int:
    return len({x["name"] for x in log(out)})


def tree(folder: Path) -> dict[str, str]:
    """Digest of every file but the runtime log."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and ".batch/runtime" not in p.as_posix()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--corrupt", type=int, help="default: count / 20")
    parser.add_argument("--kind", choices=["photo", "mesh"], default="photo")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--preset", default="smoke")
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--ray", action="store_true", help="also on two raylets, one killed")
    parser.add_argument("--work", type=Path, default=Path("out/benchmark_batch"))
    parser.add_argument("--json", type=Path, default=Path("docs/results/batch.json"))
    args = parser.parse_args()
    args.corrupt = args.corrupt or max(1, args.count // 20)
    shutil.rmtree(args.work, ignore_errors=True)
    make_inputs(args.work / "in", args.count, args.corrupt, args.kind)
    files = sorted((args.work / "in").rglob("*.*"), key=lambda p: p.stem)
    for path in files[: max(args.count // 4, 1)]:
        part = args.work / "part" / path.relative_to(args.work / "in")
        part.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, part)
    load = os.getloadavg()[0]
    one = run(args, args.work / "one", 1, "part")
    print(json.dumps(one), flush=True)
    two = run(args, args.work / "two", 2)
    print(json.dumps(two), flush=True)
    load_after = os.getloadavg()[0]
    killed = run_killed(args, args.work / "killed", args.kills)
    print(json.dumps(killed), flush=True)
    truth = tree(args.work / "two")
    rows = [json.loads(x) for x in (args.work / "two/results.jsonl").read_text().splitlines()]
    alone = {
        path: digest
        for path, digest in tree(args.work / "one").items()
        if path[0] != "." and "/" in path
    }
    result = {
        "items": args.count, "kind": args.kind, "corrupt": args.corrupt, "preset": args.preset,
        "set": [*LEAN, *args.sets], "cores": os.cpu_count(), "machine": platform.machine(),
        "load_average_at_start": round(load, 1), "load_average_at_end": round(load_after, 1),
        "one_worker": one, "two_workers": two, "killed": killed,
        "two_workers_over_one": round(two["items_per_minute"] / one["items_per_minute"], 2),
        "files_compared": len(truth),
        "same_bytes": {
            "one worker, each item's files": bool(alone) and alone.items() <= truth.items(),
            "killed": tree(args.work / "killed") == truth,
        },
        "verified": sum(r["status"] == "verified" for r in rows),
        "unverified": [r["cause"] for r in rows if r["status"] == "unverified"],
        "failed": {r["input"]: r["cause"] for r in rows if r["status"] == "failed"},
    }  # fmt: skip
    if args.ray:
        result["ray"] = run_ray(args, args.work / "ray")
        result["same_bytes"]["ray"] = tree(args.work / "ray") == truth
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
