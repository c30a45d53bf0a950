"""Batches. Oracles: an undisturbed run's bytes, the true faults that makers here cause."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from click.testing import CliRunner

from seed3d.batch import Limits, run_batch
from seed3d.cli import main

HERE = Path(__file__).parent
FAST = {
    "mesh": {"target_faces": 500, "resolution": 32},
    "texture": {"size": 64},
    "export": {"formats": "mjcf", "turntable_frames": 0, "preview_size": 64},
    "verify": {"engines": "mujoco", "seconds": 0.5},
}
TESTS = {"PYTHONPATH": str(HERE)}


def quick(item, path):
    """A real asset through the mesh stages and writers; one measured check instead of engines."""
    from seed3d.export import asset_files
    from seed3d.image.load import decode, read_file
    from seed3d.pipeline import simready
    from seed3d.types import Check, Verdict

    if item.kind == "photo":
        decode(read_file(path), item.name)  # none of the photos here gets any further
    asset = simready(path, item.config, item.name)
    closed = asset.mesh.to_trimesh().is_watertight
    verdict = Verdict((Check("watertight", bool(closed), float(closed), "1"),))
    files = asset_files(asset, ("mjcf",), verdict)
    files.pop("timings.json")
    return files, {}


def faulty(item, path):
    """As `quick`, but items misbehave as their names say."""
    if item.name.startswith("crash"):
        marker = path.with_suffix(".tried")
        if item.name == "crash_always" or not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if item.name == "slow":
        subprocess.run(["sleep", "613.25"], check=True)
    if item.name == "greedy":
        hoard = np.ones(250_000_000)  # 2 GB
        time.sleep(60)
        hoard.sum()
    if item.name == "bug":
        raise KeyError("nobody expected this")
    return quick(item, path)


def unhurried(item, path):
    """As `quick`, slow enough to be killed in the middle."""
    time.sleep(0.3)
    return quick(item, path)


def box(path, size=(0.2, 0.3, 0.1)):
    import trimesh

    path.parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box(size).export(path)


def tree(folder):
    """Digest of every file but what differs between runs on purpose."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and ".batch/runtime" not in p.as_posix()
    }


def log(folder):
    path = folder / ".batch/runtime/log.jsonl"
    return [json.loads(x) for x in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(autouse=True)
def makers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """Nine boxes, some of the same name in different folders, and two broken files."""
    folder = tmp_path_factory.mktemp("shapes")
    for i in range(7):
        box(folder / f"box{i}.stl", (0.1 + 0.02 * i, 0.3, 0.1))
    box(folder / "kitchen/crate.glb", (0.4, 0.3, 0.2))
    box(folder / "cellar/crate.glb", (0.5, 0.3, 0.3))
    (folder / "torn.glb").write_bytes((folder / "kitchen/crate.glb").read_bytes()[:200])
    (folder / "empty.png").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def undisturbed(shapes, tmp_path_factory):
    """The outcome of one worker, never disturbed."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    os.environ["PYTHONPATH"] = str(HERE)
    result = run_batch(shapes, out, options=FAST, workers=1, maker="test_batch:quick")
    return result, out


def test_each_item_is_a_row_with_size_and_cause(undisturbed):
    result, out = undisturbed
    rows = {row["name"]: row for row in result.rows}
    assert rows == {r["name"]: r for r in map(json.loads, (out / "results.jsonl").open())}
    assert sorted(rows["kitchen_crate"]["extents_m"]) == pytest.approx([0.2, 0.3, 0.4])
    assert sorted(rows["cellar_crate"]["extents_m"]) == pytest.approx([0.3, 0.3, 0.5])
    failed = {row["input"]: row["cause"] for row in result.failed}
    assert set(failed) == {"torn.glb", "empty.png"}
    assert "empty file" in failed["empty.png"] and "torn.glb" in failed["torn.glb"]
    assert str(out.parent) not in (out / "results.jsonl").read_text()


def test_finished_items_are_not_done_again_but_changed_ones_are(shapes, undisturbed, tmp_path):
    import shutil

    _, first = undisturbed
    out, inputs = tmp_path / "out", tmp_path / "in"
    shutil.copytree(first, out)
    shutil.copytree(shapes, inputs)
    again = run_batch(inputs, out, options=FAST, workers=0, maker="test_batch:quick")
    assert again.made == 0 and tree(out) == tree(first)
    box(inputs / "box0.stl", (0.7, 0.7, 0.7))  # other bytes
    (out / "box1/box1.xml").unlink()  # a damaged asset
    made = run_batch(inputs, out, options=FAST, workers=0, maker="test_batch:quick")
    assert made.made == 2
    assert made.rows[0]["extents_m"] == pytest.approx([0.7] * 3)
    heavier = {**FAST, "physics": {"mass": 3.0}}
    only = run_batch([inputs / "box2.stl"], out, options=heavier, workers=0,
                     maker="test_batch:quick")  # fmt: skip
    assert only.made == 1 and only.rows[0]["mass_kg"] == pytest.approx(3)


def test_four_workers_give_the_bytes_of_one(shapes, undisturbed, tmp_path):
    run_batch(shapes, tmp_path / "out", options=FAST, workers=4, maker="test_batch:quick")
    assert tree(tmp_path / "out") == tree(undisturbed[1])
    pids = [p for p in Path("/tmp").glob(f"seed3d-batch-p{os.getpid()}")]
    assert not pids, "temporary files of workers are left"


def test_killed_three_times_the_folder_is_that_of_an_undisturbed_run(shapes, undisturbed, tmp_path):
    out = tmp_path / "out"
    code = (
        "import sys, json; from seed3d.batch import run_batch\n"
        "run_batch(sys.argv[1], sys.argv[2], options=json.loads(sys.argv[3]), workers=2,"
        " maker='test_batch:unhurried')"
    )
    command = [sys.executable, "-c", code, str(shapes), str(out), json.dumps(FAST)]
    for enough in (1, 4, 7):
        process = subprocess.Popen(command, env={**os.environ, **TESTS})
        while process.poll() is None and sum(not x["kept"] for x in log(out)) < enough:
            time.sleep(0.01)
        assert process.poll() is None, "ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
    (out / ".box6.abcdefgh.tmp").mkdir()  # as a writer leaves it that is killed in the middle
    finished = {x["name"] for x in log(out) if x["status"] == "verified"}
    last = run_batch(shapes, out, options=FAST, workers=2, maker="test_batch:unhurried")
    assert tree(out) == tree(undisturbed[1])
    done = [x["name"] for x in log(out) if not x["kept"] and x["status"] == "verified"]
    assert last.made <= 11 - len(finished) + 2
    first = {x["name"]: x for x in reversed(log(out)) if x["status"] == "verified"}
    for name in finished:
        # A kill between the finished folder and its line loses the line: the next run keeps it.
        lost = bool(first[name]["kept"])
        assert done.count(name) == (0 if lost else 1), f"{name} was done again"


def test_an_asset_being_replaced_when_the_writer_was_killed_comes_back(tmp_path):
    from seed3d.batch.store import FolderStore

    half = tmp_path / ".mug.a1b2c3d4.tmp/old"
    half.mkdir(parents=True)
    (half / "mine.txt").write_text("the user's")
    FolderStore(tmp_path).clean()
    assert (tmp_path / "mug/mine.txt").read_text() == "the user's"
    assert [p.name for p in tmp_path.iterdir()] == ["mug"]


def test_bad_items_fail_alone_with_their_cause_and_crashed_ones_are_retried(tmp_path):
    for name in ("bug", "crash_always", "crash_once", "fine", "greedy"):
        box(tmp_path / f"in/{name}.stl")
    limits = Limits(memory_gb=1.6, retries=1)
    result = run_batch(tmp_path / "in", tmp_path / "out", options=FAST, workers=2,
                       limits=limits, maker="test_batch:faulty")  # fmt: skip
    rows = {row["name"]: row for row in result.rows}
    assert rows["fine"]["status"] == rows["crash_once"]["status"] == "verified"
    failures = {n: r["failure"] for n, r in rows.items() if r["status"] == "failed"}
    assert failures == {"bug": "error", "crash_always": "crash", "greedy": "memory"}
    assert "nobody expected this" in rows["bug"]["cause"]
    assert "SIGKILL" in rows["crash_always"]["cause"] and "2 tries" in rows["crash_always"]["cause"]
    assert "1.6 GB" in rows["greedy"]["cause"]
    attempts = {x["name"]: x["attempt"] for x in log(tmp_path / "out")}
    assert attempts["crash_once"] == 2 and attempts["bug"] == 1


def test_an_item_over_its_time_is_stopped_with_all_it_started_and_tried_again_later(tmp_path):
    box(tmp_path / "in/slow.stl")
    common = {"options": FAST, "workers": 1, "limits": Limits(time_s=4)}
    result = run_batch(tmp_path / "in", tmp_path / "out", maker="test_batch:faulty", **common)
    (row,) = result.rows
    assert row["failure"] == "time" and "4 s (--time-limit)" in row["cause"]
    left = [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "613.25"]]
    assert not left, "what the stopped worker had started still runs"
    again = run_batch(tmp_path / "in", tmp_path / "out", options=FAST, workers=0,
                      maker="test_batch:quick")  # fmt: skip
    assert again.made == 1 and not again.failed


def test_command_line_end_to_end_with_gallery_and_exit_code(tmp_path):
    evil = "<img src=x onerror=alert(1)>&"
    box(tmp_path / f"in/{evil}.stl")
    (tmp_path / "in/not a photo.jpg").write_text("hello")
    sets = ["texture.size=64", "export.turntable_frames=0", "export.preview_size=64",
            "verify.engines=mujoco", "verify.seconds=0.5"]  # fmt: skip
    command = ["batch", str(tmp_path / "in"), "-o", str(tmp_path / "out"), "--formats", "mjcf"]
    command += [x for one in sets for x in ("--set", one)]
    ran = CliRunner().invoke(main, command, catch_exceptions=False)
    assert ran.exit_code == 1, ran.output
    assert "1 of 2 verified" in ran.output and "not a photo.jpg" in ran.output
    page = (tmp_path / "out/index.html").read_text()
    assert "<img src=x" not in page and "&lt;img src=x onerror=alert(1)&gt;&amp;" in page
    row = next(r for r in map(json.loads, (tmp_path / "out/results.jsonl").open())
               if r["kind"] == "mesh")  # fmt: skip
    assert row["checks"] > 10 and f'src="{row["name"]}/preview.png"' in page
    assert not (tmp_path / f"out/{row['name']}/timings.json").exists()
    good = [*command[:1], str(tmp_path / f"in/{evil}.stl"), *command[2:]]
    again = CliRunner().invoke(main, good, catch_exceptions=False)
    assert again.exit_code == 0 and "1 of 1 verified; 0 worked on" in again.output


def test_example_script_makes_assets_of_a_folder(tmp_path, monkeypatch):
    import yaml

    monkeypatch.syspath_prepend(str(HERE.parent / "examples"))
    from batch_folder import main as example

    preset = tmp_path / "tiny.yaml"
    preset.write_text(yaml.safe_dump(FAST))
    box(tmp_path / "in/brick.stl")
    (tmp_path / "in/broken.png").write_bytes(b"no photo")
    assert example(str(tmp_path / "in"), str(tmp_path / "out"), str(preset)) == 1
    assert (tmp_path / "out/brick/brick.urdf").is_file()


def test_two_batches_do_not_write_to_one_folder(shapes, tmp_path):
    from seed3d.batch.lock import alone
    from seed3d.errors import ConfigError

    with alone(tmp_path), pytest.raises(ConfigError, match="another batch is writing"):
        run_batch(shapes, tmp_path, options=FAST, workers=0)
