#!/usr/bin/env bash
# Everything a bare machine needs: system libraries, a virtual environment in .venv, CPU PyTorch
# (or the CUDA build where there is an NVIDIA GPU), and this package.
#   scripts/setup.sh          to use Seed3D
#   scripts/setup.sh dev      also to run its checks and tests
set -euo pipefail
cd "$(dirname "$0")/.."
extra=${1:-}
python=${PYTHON:-python3}
torch=${SEED3D_TORCH:-torch==2.13.0}

"$python" - <<'PY' || exit 1
import sys
if not (3, 11) <= sys.version_info[:2] <= (3, 12):
    sys.exit(f"Python {sys.version.split()[0]} found; wanted 3.11 or 3.12. "
             "Set PYTHON=/path/to/python3.11 and run this again.")
PY

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null

# Libraries that the open3d wheel links to and a bare machine lacks.
if command -v ldconfig >/dev/null && command -v apt-get >/dev/null; then
  missing=()
  for pair in libusb-1.0.so.0:libusb-1.0-0 libGL.so.1:libgl1 libEGL.so.1:libegl1 \
              libX11.so.6:libx11-6 libudev.so.1:libudev1 libgomp.so.1:libgomp1; do
    ldconfig -p | grep -q "${pair%%:*}" || missing+=("${pair##*:}")
  done
  # The tests of the web page drive a real browser.
  if [ "$extra" = dev ] && ! browser; then missing+=(chromium fonts-dejavu-core); fi
  if ((${#missing[@]})); then
    echo "installing system libraries: ${missing[*]}"
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  fi
fi

[ -x .venv/bin/python ] || "$python" -m venv .venv
pip=(.venv/bin/python -m pip --disable-pip-version-check install -q)

# Plain `pip install torch` brings several GB of CUDA libraries on Linux; uv knows where the
# CPU build is. Where that place can't be reached, pip takes what its own index offers.
if ! .venv/bin/python -c 'import torch' 2>/dev/null; then
  if command -v nvidia-smi >/dev/null; then
    "${pip[@]}" "$torch"
  else
    "${pip[@]}" uv
    UV_HTTP_TIMEOUT=60 .venv/bin/uv pip install -q --python .venv/bin/python --torch-backend=cpu "$torch" \
      2>/tmp/seed3d-uv.log || {
      echo "no access to the CPU builds of PyTorch; taking $torch from pip's own index"
      "${pip[@]}" "$torch"
    }
  fi
fi
"${pip[@]}" -e ".${extra:+[$extra]}"
if [ "$extra" = dev ] && ! browser; then
  .venv/bin/playwright install chromium  # no apt here: Playwright's own build
fi
echo "ready: .venv/bin/seed3d --help"
