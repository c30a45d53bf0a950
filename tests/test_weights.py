"""Fetching weights from a real local server: pinned, resumed, verified, refused when wrong."""

import hashlib
import http.server
import threading

import pytest
import yaml
from click.testing import CliRunner

from seed3d.errors import CheckpointError
from seed3d.weights import fetch, find_weights, list_weights, located, missing, verify, with_needs

PAYLOAD = bytes(range(256)) * 4000


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves PAYLOAD with ranges; can break off or serve another file."""

    def do_GET(self):
        server = self.server
        start = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
        ranged = "Range" in self.headers and server.ranges
        start = start if ranged else 0
        server.asked.append((self.path, start))
        body = server.payload[start:]
        self.send_response(206 if ranged else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cut] if server.cut else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.payload, server.cut, server.ranges, server.asked = PAYLOAD, 0, True, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def manifest(server, tmp_path):
    row = {
        "licence": "MIT", "about": "a test", "revision": "abc123", "needs": [],
        "source": f"http://127.0.0.1:{server.server_address[1]}/owner/name",
        "files": {"part/model.safetensors": {
            "bytes": len(PAYLOAD), "sha256": hashlib.sha256(PAYLOAD).hexdigest()}},
    }  # fmt: skip
    path = tmp_path / "weights.yaml"
    path.write_text(yaml.safe_dump({"small": row, "whole": {**row, "needs": ["small"]}}))
    return path


def test_fetched_from_the_pinned_revision_and_verified(server, manifest, tmp_path):
    weights, cache = find_weights("small", manifest), tmp_path / "cache"
    seen = []
    (path,) = fetch(weights, cache, lambda *row: seen.append(row))
    assert path.read_bytes() == PAYLOAD
    assert server.asked == [("/owner/name/resolve/abc123/part/model.safetensors", 0)]
    assert seen[-1] == ("part/model.safetensors", len(PAYLOAD), len(PAYLOAD))
    assert located("small", "part/model.safetensors", cache, manifest) == path
    fetch(weights, cache)
    assert len(server.asked) == 1  # nothing to do
    assert verify(weights, cache) == {"part/model.safetensors": "ok"}
    path.write_bytes(b"x" + PAYLOAD[1:])
    assert verify(weights, cache) == {"part/model.safetensors": "damaged"}


@pytest.mark.parametrize("ranges", [True, False])
def test_broken_download_goes_on(server, manifest, tmp_path, ranges):
    weights, cache = find_weights("small", manifest), tmp_path / "cache"
    server.cut, server.ranges = 300_000, ranges
    with pytest.raises(CheckpointError, match=r"300000 of 1024000 bytes.*goes on from there"):
        fetch(weights, cache)
    assert missing(weights, cache)
    server.cut = 0
    (path,) = fetch(weights, cache)
    assert path.read_bytes() == PAYLOAD
    assert server.asked[-1][1] == (300_000 if ranges else 0)
    assert not list(path.parent.glob("*.part"))


def test_another_file_is_refused_and_removed(server, manifest, tmp_path):
    weights, cache = find_weights("small", manifest), tmp_path / "cache"
    server.payload = PAYLOAD[::-1]
    with pytest.raises(CheckpointError, match=r"got SHA-256 \w+\.\.\..*wanted.*was removed"):
        fetch(weights, cache)
    assert not [p for p in cache.rglob("*") if p.is_file()]


def test_missing_weights_name_the_command(manifest, tmp_path):
    with pytest.raises(CheckpointError, match="seed3d weights fetch small"):
        located("small", "part/model.safetensors", tmp_path, manifest)
    with pytest.raises(CheckpointError, match="Did you mean 'small'"):
        find_weights("smal", manifest)
    assert [w.name for w in with_needs("whole", manifest)] == ["small", "whole"]


def test_shipped_manifest_is_pinned_and_permissive():
    for weights in list_weights():
        assert len(weights.revision) == 40 and int(weights.revision, 16)
        assert weights.licence in {"MIT", "Apache-2.0"}
        assert all(int(file.sha256, 16) and file.bytes > 1e8 for file in weights.files)
    assert sum(w.bytes for w in with_needs("triposg")) == pytest.approx(7.95e9, rel=0.01)


def test_command_shows_size_and_licence_and_asks(monkeypatch, tmp_path, manifest, server):
    from seed3d import weights as module
    from seed3d.cli import main

    monkeypatch.setenv("SEED3D_CACHE", str(tmp_path / "cache"))
    shown = CliRunner().invoke(main, ["weights", "fetch", "triposg"], input="n\n")
    assert shown.exit_code == 1 and "licence MIT" in shown.output
    assert "To fetch: 7.95 GB" in shown.output and "Apache-2.0" in shown.output
    listed = CliRunner().invoke(main, ["weights", "list"])
    assert "triposg  6.73 GB  MIT  not fetched" in listed.output

    (tmp_path / "configs").mkdir()
    manifest.rename(tmp_path / "configs" / "weights.yaml")
    monkeypatch.setattr(module, "data_dir", lambda name: tmp_path / name)
    done = CliRunner().invoke(main, ["weights", "fetch", "whole", "--yes"])
    assert done.exit_code == 0, done.output
    assert "whole: done, SHA-256 verified" in done.output
    checked = CliRunner().invoke(main, ["weights", "verify"])
    assert checked.exit_code == 0 and checked.output.count(": ok") == 2
    assert "no published weights" in CliRunner().invoke(main, ["weights", "fetch", "hole"]).output
