#!/bin/sh
# Runs the tests of conditions with the oldest SQLGlot of pyproject.toml's range; the others run with the newest. The tests of compiled statements
# are left out, because they translate with SQLGlot, which the oldest does in part.
#
#   scripts/test_sqlglot.sh PYTHON        PYTHON has the group `test` installed
set -eu

cd "$(dirname "$0")/.."
oldest=$(sed -n 's/.*"sqlglot>=\([0-9.]*\),.*/\1/p' pyproject.toml | head -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m pip install --quiet --no-deps --target "$folder" "sqlglot==$oldest.*"
PYTHONPATH=$folder "$1" -c "import sqlglot; assert sqlglot.__version__.startswith('$oldest.'), sqlglot.__version__"
PYTHONPATH=$folder "$1" -m pytest -q tests/query/test_condition*.py
