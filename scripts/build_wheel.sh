#!/bin/sh
# One wheel, which is the same bit for bit in whatever folder it is built.
#
#   scripts/build_wheel.sh OUT [TARGET [INTERPRETER]]
#
#   OUT           the folder for it
#   TARGET        of rustc, such as aarch64-unknown-linux-musl; this machine by default
#   INTERPRETER   a free-threaded CPython to build for; by default the wheel is of the stable ABI
#
#   PYTHON        python3 by default
#   MANYLINUX     the oldest glibc that it runs with, manylinux2014 (2.17) by default
#   JOBS          for cargo
#
# zig, of PyPI, links against the symbols of an old glibc or of musl, whichever C library is here and for either architecture.
set -eu

out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
target=${2:-$(rustc -vV | sed -n 's/^host: //p')}
python=${PYTHON:-python3}
work=$PWD/target/wheels
tools=$work/tools/bin

# Of the environment nothing may name instructions that only this machine has, or another place for the products.
unset RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET VIRTUAL_ENV CONDA_PREFIX PYO3_PYTHON
export CARGO_TARGET_DIR="$work"
# Messages of a panic name source files; where these lie on the building machine is nobody's business.
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=stairnoise\037--remap-path-prefix=%s=cargo' "$PWD" "${CARGO_HOME:-$HOME/.cargo}")
export CARGO_ENCODED_RUSTFLAGS
# Times in the archive are the commit's.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null); then
    export SOURCE_DATE_EPOCH
fi

[ -x "$tools/python" ] || "$python" -m venv "$work/tools"
# Other versions of the first two make other wheels.
"$tools/python" -m pip install --quiet maturin==1.16.0 ziglang==0.17.1 'auditwheel==6.8.*' 'abi3audit>=0.0.24'
if command -v rustup >/dev/null; then
    rustup --quiet target add "$target"
fi

case "$target" in
*-linux-gnu) set -- --zig --compatibility "${MANYLINUX:-manylinux2014}" --interpreter "${3:-$tools/python}" ;;
*-linux-musl) set -- --zig --compatibility musllinux_1_2 --interpreter "${3:-python3.10}" ;;
*) set -- --compatibility pypi --interpreter "${3:-$tools/python}" ;;
esac
# Into a folder of its own: no name needs to be guessed.
rm -rf "$work/new"
PATH="$tools:$PATH" "$tools/maturin" build --release --locked ${JOBS:+--jobs "$JOBS"} --target "$target" --out "$work/new" "$@"
"$tools/python" scripts/normalise_wheel.py "$work/new"/*.whl
mv "$work/new"/*.whl "$out"
