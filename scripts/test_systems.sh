#!/bin/sh
# Runs tests/compat with the systems that our noise is put into, at the versions of the group `systems`. They have an environment of
# their own, because they need older versions of other packages.
#
#   scripts/test_systems.sh PYTHON        PYTHON has the group `test` installed
set -eu

cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv --without-pip "$folder"
# Packages of PYTHON are visible too, after those of the group.
"$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$(echo "$folder"/lib/python*/site-packages)/test.pth"
"$1" -m pip --python "$folder/bin/python" install --quiet --group systems
PYTHONPATH=python "$folder/bin/python" -m pytest -q -m '' tests/compat
