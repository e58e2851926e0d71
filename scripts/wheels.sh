#!/bin/sh
# Builds a release's wheels and source distribution into dist/, checks, installs and tests them.
#
#   scripts/wheels.sh [PYTEST ARGUMENT...]        exit 0 if everything passed
#
#   PYTHON        the interpreter that builds and tests first; python3 by default
#   PYTHONS       other interpreters that test the abi3 wheel
#   FREE          free-threaded interpreters, a wheel for each; by default python3.14t and python3.15t, if found
#   TARGETS       other targets of rustc; on Linux, by default, this architecture's target with musl. Their wheels are run if
#                 scripts/try_wheel.py finds an interpreter
#   MANYLINUX     the oldest glibc that the wheels run with, manylinux2014 (2.17) by default
#
# The arguments select the tests that run on each artifact; all of them by default.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
tools=$PWD/target/wheels/tools/bin
host=$(rustc -vV | sed -n 's/^host: //p')

say() {
    printf '\n== %s\n' "$1"
}

case "$host" in
*-linux-gnu) more=${TARGETS-${host%-gnu}-musl} ;;
*) more=${TARGETS:-} ;;
esac
rm -rf dist

say "a wheel for every CPython from 3.10 on"
PYTHON="$python" scripts/build_wheel.sh dist "$host"
own=$(echo dist/*.whl)

free=${FREE:-}
if [ -z "$free" ]; then
    for name in python3.14t python3.15t; do
        if command -v "$name" >/dev/null; then free="$free $name"; fi
    done
fi
if [ -n "$free" ]; then
    for name in $free; do
        say "a wheel for $name"
        PYTHON="$python" scripts/build_wheel.sh dist "$host" "$(command -v "$name")"
    done
else
    say 'NO WHEEL FOR FREE-THREADED PYTHON: neither python3.14t nor python3.15t was found, and FREE names none'
fi

say 'the source distribution'
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); then
    export SOURCE_DATE_EPOCH
fi
"$tools/maturin" sdist --out dist

for target in $more; do
    say "a wheel for $target"
    PYTHON="$python" scripts/build_wheel.sh dist "$target"
done

say 'checks of the archives'
PATH="$tools:$PATH" "$tools/python" scripts/check_wheel.py dist/*.whl

say 'pip install from an index on this machine, without Rust'
"$python" -m venv "$PWD/target/wheels/test"
"$PWD/target/wheels/test/bin/python" -m pip install --quiet pytest
STAIRNOISE_DIST="$PWD/dist" "$PWD/target/wheels/test/bin/python" -m pytest -q --noconftest -c /dev/null --rootdir . \
    -p no:cacheprovider tests/packaging/test_local_index.py

for artifact in "$own" dist/*.tar.gz; do
    say "tests on $artifact"
    "$python" scripts/test_installed.py "$artifact" --python "$python" "$@"
done
for other in ${PYTHONS:-}; do
    say "tests on the abi3 wheel with $other"
    "$python" scripts/test_installed.py "$own" --python "$other" "$@"
done
for name in $free; do
    tag=$("$name" -c 'import sys; print("cp%d%dt" % sys.version_info[:2])')
    say "tests on the wheel for $name"
    "$python" scripts/test_installed.py dist/*-"$tag"-*.whl --python "$name" "$@"
done
if [ -n "$more" ]; then
    say "wheels for other machines and C libraries, compared with this machine's"
    "$python" scripts/try_wheel.py "$own" dist/*-abi3-*.whl
fi
say 'built, checked and tested:'
ls -l dist
(cd dist && sha256sum ./* 2>/dev/null || shasum -a 256 ./*)
if [ "$(uname -m)" = x86_64 ] && ! command -v qemu-x86_64 >/dev/null && ! command -v qemu-x86_64-static >/dev/null; then
    echo 'Not tried on an old processor: qemu-x86_64 was not found.'
fi
[ -n "$free" ] || echo 'No wheel for free-threaded Python was built.'
