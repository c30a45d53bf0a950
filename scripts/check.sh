#!/usr/bin/env bash
# All checks: format, lint, types, tests. Sets the environment up first where it's missing.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/python -c 'import pytest, simcheck, seed3d' 2>/dev/null || scripts/setup.sh dev
.venv/bin/ruff format --check .
.venv/bin/ruff check .
.venv/bin/pyright
.venv/bin/python -m pytest "$@"
