#!/bin/sh
# Runs tests/compat with the systems that our noise is put into, at the versions of the group `systems`, and then the tests of
# diffprivlib and mbi with our noise in their code: those of their source distributions. They have an environment of their own,
# because they need older versions of other packages.
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
export PYTHONPATH="$PWD/python:$PWD/tests/compat"
"$folder/bin/python" -m pytest -q -m '' tests/compat tests/pages/test_inside.py

# Only two files of mbi's tests draw noise.
own_tests() {
    "$1" -m pip download --quiet --no-deps --no-binary :all: --dest "$folder/$2" "$2==$3"
    tar -xzf "$folder/$2/$2-$3.tar.gz" -C "$folder/$2" --strip-components=1 --wildcards "*/test*"
    system=$2 && shift 3
    (cd "$folder/$system" && ../bin/python -m pytest -q -p own_tests --noise-in "$system" --numprocesses 2 "$@")
}
own_tests "$1" diffprivlib 0.6.6 tests
own_tests "$1" mbi 2.0.0 test/test_constraint.py test/test_serialization.py
