"""The web page in a real headless Chromium, its API, and hostile uploads against a live server."""

import concurrent.futures
import json
import os
import shutil
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from seed3d.web.settings import WebSettings

ROOT = Path(__file__).parent.parent
SHOTS = os.environ.get("SEED3D_SCREENSHOTS")
"""Folder to keep screenshots in; normally they stay in the test's own."""
SLOW_MS = 280_000
TINY = """
geometry: {steps: 2, candidates: 1, fit_steps: 0, resolution: 48}
mesh: {target_faces: 1500, resolution: 48}
texture: {size: 128}
physics: {hull_threshold: 0.3, max_hulls: 16}
export: {turntable_frames: 0, preview_size: 96}
verify: {seconds: 2.0}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A running server with a tiny preset; its desk, and its address."""
    from seed3d.web.page import serve

    preset = tmp_path_factory.mktemp("preset") / "tiny.yaml"
    preset.write_text(TINY)
    settings = WebSettings(port=0, preset=str(preset), film_pixels=128, queue=8, upload_mb=8)
    page, desk, url = serve(settings)
    yield desk, url.rstrip("/")
    page.close()
    desk.close()
    assert not desk.workspace.root.exists()


@pytest.fixture(scope="module")
def browser():
    """Chromium. Absent, the tests fail: scripts/setup.sh dev installs one."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=found,
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )
        yield chromium
        chromium.close()


def open_page(browser, url, folder, width, height):
    """A page that may talk to its own server only; errors in it are collected."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(SLOW_MS)
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith((url, "data:", "blob:"))
            else page.problems.append(f"outside: {r.url}"))  # fmt: skip
    # Without it the viewer first tries WebGPU, which a headless browser has not.
    page.add_init_script("delete Navigator.prototype.gpu")
    page.shot = lambda name: page.screenshot(path=Path(SHOTS or folder) / f"{name}.png")
    page.goto(url)
    page.wait_for_selector("#photo-go")
    return page


def colours(page, selector):
    """How many different colours an element shows."""
    import io

    from PIL import Image

    image = Image.open(io.BytesIO(page.locator(selector).first.screenshot())).convert("RGB")
    return len(image.quantize(64).convert("RGB").getcolors(4096) or ())


def wait_for_model(page):
    """Until the interactive view shows something."""
    page.wait_for_selector("#photo-model canvas[data-ready]")
    page.locator("#photo-model").scroll_into_view_if_needed()
    until = time.monotonic() + SLOW_MS / 1000
    while colours(page, "#photo-model canvas") < 12:
        assert time.monotonic() < until, "the model never appeared"
        time.sleep(1)


def load_zip(archive, folder):
    """Unpack a download and load its URDF in PyBullet: path, mass and principal moments."""
    import pybullet

    zipfile.ZipFile(archive).extractall(folder)
    (urdf,) = folder.glob("*/*.urdf")
    client = pybullet.connect(pybullet.DIRECT)
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE
    body = pybullet.loadURDF(str(urdf), flags=flags, physicsClientId=client)
    info = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)
    pybullet.disconnect(client)
    return urdf, info[0], np.array(info[2])


@pytest.mark.timeout(900)
def test_visitor_makes_an_asset_corrects_its_mass_and_loads_the_download(server, browser, tmp_path):
    _, url = server
    page = open_page(browser, url, tmp_path, 1280, 1000)
    page.set_input_files("#photo input[type=file]", ROOT / "examples" / "mug.png")
    page.wait_for_selector(".mask-box:not(.empty)")
    page.wait_for_function("document.querySelector('#mask canvas').width > 100")
    page.shot("1_mask")
    box = page.locator("#mask canvas").bounding_box()
    before = page.evaluate("document.querySelector('#mask canvas').toDataURL()")
    page.locator("#mask [data-brush=erase]").click()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.72 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.75 * box["height"], steps=4)
    page.mouse.up()
    page.locator("#mask [data-brush=keep]").click()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.05 * box["height"])
    page.mouse.down()
    page.mouse.up()
    assert page.evaluate("document.querySelector('#mask canvas').toDataURL()") != before
    page.locator("#mask [data-act=undo]").click()

    page.click("#photo-go")
    page.wait_for_selector("#photo-progress .seed-steps li.done")
    page.shot("2_progress")
    page.wait_for_selector("#verdict")
    assert "Ready for simulation" in page.inner_text("#verdict")
    wait_for_model(page)
    page.shot("3_result")
    page.wait_for_selector("#photo-progress .seed-box, #photo-progress .seed-run", state="detached")
    page.locator("#photo-model [data-mode=Hulls]").click()
    page.get_by_role("tab", name="Drop test").first.click()
    page.wait_for_selector("#photo-clip img")
    page.locator("#photo-clip").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('#photo-clip img').naturalWidth == 128")
    page.shot("4_hulls_and_drop")

    page.get_by_role("tab", name="Correct size or mass").first.click()
    page.fill("#photo-mass input", "0.777")
    page.keyboard.press("Tab")
    page.click("#photo-again")
    page.wait_for_function(
        "document.querySelector('#photo-facts').innerText.includes('777 g')", timeout=SLOW_MS
    )
    assert "you said so" in page.inner_text("#photo-facts")
    page.wait_for_selector("#photo-progress .seed-box, #photo-progress .seed-run", state="detached")
    with page.expect_download() as waiting:
        page.click("#photo-load-urdf")
    archive = tmp_path / "asset.zip"
    waiting.value.save_as(archive)
    urdf, mass, inertia = load_zip(archive, tmp_path / "asset")
    assert mass == pytest.approx(0.777, rel=1e-6)
    assert min(inertia) > 0
    report = json.loads((urdf.parent / "report.json").read_text())
    assert report["verdict"]["passed"]
    assert report["inputs"]["mask_sha256"]  # the strokes arrived
    assert page.problems == []
    page.close()


def test_phone_shows_everything_in_its_width_and_cancel_stops_the_work(server, browser, tmp_path):
    desk, url = server
    page = open_page(browser, url, tmp_path, 390, 844)
    page.locator("#examples button, #examples .gallery-item").first.click()
    page.wait_for_selector(".mask-box:not(.empty)")
    page.wait_for_function("document.querySelector('#mask canvas').width > 100")
    page.shot("5_phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#photo-go")
    page.wait_for_selector("#photo-progress .seed-steps li.now")
    worker = next(iter(desk.pool.running))
    page.click("#photo-cancel")
    page.wait_for_function(
        "document.querySelector('#photo-progress').innerText.includes('Stopped')"
    )
    assert worker.process.poll() is not None
    assert not desk.pool.running
    assert page.problems == []
    page.close()
    until = time.monotonic() + 60  # a closed page's results go at once
    while any(desk.workspace.jobs.iterdir()):
        assert time.monotonic() < until, list(desk.workspace.jobs.iterdir())
        time.sleep(0.5)


def make_mesh_assets(page, folder):
    """Two assets through the tab for 3D models."""
    from trimesh import creation

    page.get_by_role("tab", name="From a 3D model").click()
    creation.box((0.08, 0.06, 0.04)).export(folder / "brick.stl")
    creation.cylinder(0.03, 0.07, sections=16).export(folder / "can.stl")
    for name, side in (("brick", "8 cm × 6 cm × 4 cm"), ("can", "6 cm × 6 cm × 7 cm")):
        page.set_input_files("#mesh input[type=file]", folder / f"{name}.stl")
        page.wait_for_selector(f"#mesh :text('{name}')")
        page.click("#mesh-go")
        page.wait_for_function(
            f"document.querySelector('#mesh-facts')?.innerText.includes('{side}')"
        )
        assert "Ready for simulation" in page.inner_text("#mesh-result #verdict")
        page.wait_for_selector("#mesh-progress .seed-box, #mesh-progress .seed-run",
                               state="detached")  # fmt: skip
        page.locator("#mesh button[aria-label='Clear']").click()


@pytest.mark.timeout(900)
def test_visitor_puts_two_assets_into_a_scene_and_loads_the_download(server, browser, tmp_path):
    import io

    import mujoco
    from PIL import Image

    desk, url = server
    page = open_page(browser, url, tmp_path, 1280, 1000)
    page.get_by_role("tab", name="Scene").click()
    page.click("#scene-go")
    page.wait_for_selector("#scene-progress :text('no asset chosen')")
    make_mesh_assets(page, tmp_path)
    page.get_by_role("tab", name="Scene").click()
    page.wait_for_selector("#scene-assets label:has-text('2. can')")
    assert page.locator("#scene-assets input:checked").count() == 2
    page.fill("#scene-count input[type=number]", "5")
    page.keyboard.press("Tab")
    page.click("#scene-go")
    page.wait_for_selector("#scene-verdict .seed-box")
    assert "at rest and holds in both engines" in page.inner_text("#scene-verdict")
    page.wait_for_function("document.querySelector('#scene-picture img')?.naturalWidth == 768")
    assert colours(page, "#scene-picture img") > 12
    page.shot("6_scene")
    with page.expect_download() as waiting:
        page.click("#scene-load")
    waiting.value.save_as(tmp_path / "scene.zip")
    zipfile.ZipFile(tmp_path / "scene.zip").extractall(tmp_path)
    scene = tmp_path / "scene"
    layout = json.loads((scene / "scene.json").read_text())
    assert len(layout["objects"]) == 5
    assert {o["asset"] for o in layout["objects"]} == {"brick", "can"}
    model = mujoco.MjModel.from_xml_path(str(scene / "scene.xml"))
    data = mujoco.MjData(model)
    start = data.qpos.copy()
    mujoco.mj_step(model, data, round(1.0 / model.opt.timestep))
    assert np.abs(data.qpos - start).max() < 5e-3  # it stays as it was told
    picture = Image.open(io.BytesIO((scene / "overview.png").read_bytes()))
    assert picture.size == (768, 768)

    page.click("#scene-go")
    page.wait_for_selector("#scene-progress .seed-steps li.now")
    page.click("#scene-cancel")
    page.wait_for_selector("#scene-progress :text('Stopped')")
    assert not desk.pool.running
    assert page.problems == []
    page.close()


@pytest.fixture(scope="module")
def client(server, tmp_path_factory):
    """What a program uses; downloads go to a folder of the tests."""
    from gradio_client import Client

    it = Client(server[1], verbose=False, download_files=str(tmp_path_factory.mktemp("got")))
    yield it
    it.close()


@pytest.mark.timeout(900)
def test_a_program_generates_an_asset_and_loads_it(client, tmp_path):
    from gradio_client import handle_file

    photo = handle_file(ROOT / "examples" / "mug.png")
    facts, archive = client.predict(photo, quality="fast", height_m=0.09, api_name="/generate")
    assert facts["verdict"]["passed"]
    assert facts["extents_m"][2] == pytest.approx(0.09, rel=1e-6)
    urdf, mass, inertia = load_zip(archive, tmp_path / "mug")
    assert mass == pytest.approx(facts["mass_kg"], rel=1e-4)
    wanted = np.linalg.eigvalsh(facts["inertia_kg_m2"])
    assert np.sort(inertia) == pytest.approx(wanted, rel=1e-3)
    names = {p.suffix for p in urdf.parent.rglob("*")}
    assert {".urdf", ".xml", ".usda", ".glb", ".png", ".obj"} <= names
    report = json.loads((urdf.parent / "report.json").read_text())
    assert report["inputs"]["config"]["mesh"]["target_faces"] == 8000  # the preset's own


@pytest.mark.timeout(600)
def test_a_program_gives_a_mesh_its_mass_and_another_one(client, tmp_path):
    from gradio_client import exceptions, handle_file
    from trimesh import creation

    from seed3d.physics.materials import material

    sides = np.array((60.0, 40.0, 30.0))
    creation.box(sides).export(tmp_path / "box.stl")
    facts, archive = client.predict(
        handle_file(tmp_path / "box.stl"), quality="Standard", unit_m=0.001, material="wood_hard",
        api_name="/simready",
    )  # fmt: skip
    assert facts["verdict"]["passed"]
    assert np.sort(facts["extents_m"]) == pytest.approx(np.sort(sides) / 1000, rel=1e-3)
    mass = material("wood_hard").density * np.prod(sides / 1000)
    assert facts["mass_kg"] == pytest.approx(mass, rel=0.01)
    assert load_zip(archive, tmp_path / "first")[1] == pytest.approx(mass, rel=0.01)
    squares = (sides / 1000) ** 2
    closed = np.sort(mass / 12 * (squares.sum() - squares))
    assert np.linalg.eigvalsh(facts["inertia_kg_m2"]) == pytest.approx(closed, rel=0.02)

    heavy, archive = client.predict(facts["asset_id"], mass_kg=3 * mass, api_name="/physics")
    assert heavy["estimates"]["mass_kg"]["source"] == "user"
    assert heavy["mass_kg"] == pytest.approx(3 * mass, rel=1e-9)
    ratio = 3 * mass / facts["mass_kg"]
    wanted = ratio * np.array(facts["inertia_kg_m2"])
    assert np.allclose(heavy["inertia_kg_m2"], wanted, rtol=1e-6, atol=1e-12)
    _, loaded, inertia = load_zip(archive, tmp_path / "heavy")
    assert loaded == pytest.approx(3 * mass, rel=1e-6)
    assert np.sort(inertia) == pytest.approx(3 * closed, rel=0.02)

    large, _ = client.predict(heavy["asset_id"], length_m=0.12, api_name="/physics")
    assert large["mass_kg"] == pytest.approx(3 * mass, rel=1e-9)  # what was said stays
    assert np.allclose(large["inertia_kg_m2"], 4 * wanted, rtol=1e-3, atol=1e-9)
    for arguments, words in (
        ({"asset_id": "0" * 32, "mass_kg": 1.0}, "no longer kept"),
        ({"asset_id": facts["asset_id"], "mass_kg": 1e9}, "kilograms"),
        ({"asset_id": facts["asset_id"], "material": "wood_hart"}, "Did you mean 'wood_hard'"),
    ):
        with pytest.raises(exceptions.AppError, match=words):
            client.predict(**arguments, api_name="/physics")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_bomb(width, height, rows=0):
    """A PNG that claims width x height pixels and really holds `rows` rows of zeros."""
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress(b"\0" * (rows * (1 + 4 * width)), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


HOSTILE = {
    "huge.png": (png_bomb(20_000, 10_000), "too many pixels|200 million pixels"),
    "bomb.png": (png_bomb(65_000, 65_000, 30), "million pixels|too many pixels"),
    "no_rows.png": (png_bomb(2_000, 2_000, 3), "damaged or truncated|whole image is transparent"),
    "truncated.png": (png_bomb(2_000, 2_000, 3)[:-40], "damaged or truncated"),
    "drawing.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "SVG"),
    "page.png": (b"<!doctype html><script>alert(1)</script>", "HTML page"),
    "archive.png": (b"PK\x03\x04" + b"\0" * 200, "ZIP archive"),
    "empty.png": (b"", "empty|0 bytes"),
    "..%2f..%2fetc%2fpasswd.png": (b"GIF89a", "damaged|image"),
}


def test_hostile_uploads_are_refused_in_words_and_leave_nothing(server, tmp_path):
    from gradio_client import Client, exceptions, handle_file

    desk, url = server
    client = Client(url, verbose=False, download_files=str(tmp_path / "got"))
    for name, (data, words) in HOSTILE.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(exceptions.AppError, match=words):
            client.predict(handle_file(path), api_name="/find_mask")
    with pytest.raises(Exception, match=r"(?i)size|413"):
        (tmp_path / "fat.png").write_bytes(os.urandom(9_000_000))
        client.predict(handle_file(tmp_path / "fat.png"), api_name="/find_mask")
    good = client.predict(handle_file(ROOT / "examples" / "mug.png"), api_name="/find_mask")
    assert good["source"] == "model"
    assert 0.1 < good["share"] < 0.6
    assert all(p.is_relative_to(desk.workspace.root) for p in desk.workspace.root.rglob("*"))
    desk.workspace.sweep(time.time() + 2 * desk.workspace.keep_s)
    assert not list(desk.workspace.root.glob("*/*"))


def post(url, data, kind="application/json"):
    request = urllib.request.Request(url, data, {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_nothing_outside_the_folder_is_read_or_written(server):
    desk, url = server
    secret = ROOT / "pyproject.toml"
    names = ["/etc/passwd", str(secret), "pyproject.toml", "../pyproject.toml", "/proc/self/environ",
             f"{desk.workspace.cache}/../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd",
             "file:///etc/passwd", f"{desk.workspace.root}/jobs", "~/.bashrc"]  # fmt: skip
    for name in names:
        for path in (name, urllib.parse.quote(name, safe="")):
            assert get(f"{url}/gradio_api/file={path}") in (400, 403, 404), path
    form = (
        b'--xx\r\nContent-Disposition: form-data; name="files"; filename="%s"\r\n'
        b"Content-Type: image/png\r\n\r\nhello\r\n--xx--\r\n"
    )
    for name in (
        b"../../../../evil.png",
        b"/tmp/evil.png",
        b"..\\..\\evil.png",
        b"a/../../evil.png",
    ):
        status, body = post(
            f"{url}/gradio_api/upload", form % name, "multipart/form-data; boundary=xx"
        )
        if status == 200:
            stored = Path(json.loads(body)[0]).resolve()
            assert stored.is_relative_to(desk.workspace.cache)
    assert not Path("/tmp/evil.png").exists()
    for path in ("/etc/passwd", str(secret)):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        status, body = post(
            f"{url}/gradio_api/call/find_mask", json.dumps({"data": [file]}).encode()
        )
        if status == 200:
            event = json.loads(body)["event_id"]
            address = f"{url}/gradio_api/call/find_mask/{event}"
            with urllib.request.urlopen(address, timeout=120) as answer:
                said = answer.read().decode()
            assert "event: error" in said, said
            assert "root:" not in said
    assert get(url) == 200


def test_a_hundred_requests_at_once_leave_the_server_up(server):
    desk, url = server
    body = json.dumps({"data": [None]}).encode()
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(
            pool.map(lambda _: post(f"{url}/gradio_api/call/find_mask", body)[0], range(100))
        )
    assert len(answers) == 100
    assert set(answers) <= {200, 429, 500, 503}, set(answers)
    assert get(url) == 200
    until = time.monotonic() + 60
    while desk.pool.running:
        assert time.monotonic() < until
        time.sleep(0.5)
    assert len(desk.pool.idle) <= desk.settings.jobs + 1
    assert not any(desk.workspace.jobs.iterdir())
