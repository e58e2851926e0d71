#!/bin/sh
# Tests the crate as crates.io would have it: packs it, unpacks and tests it outside the repository, and tries `cargo publish --dry-run`.
#
#   scripts/test_package.sh        exit 0 if everything that ran passed; the last lines name what was not run
#
# The package has no golden vectors and no fuzz corpus; their tests print NOT RUN.
set -eu

cd "$(dirname "$0")/.."
work=$PWD/target/package-test
log=$work/log

say() {
    printf '\n== %s\n' "$1"
}

say 'cargo package'
mkdir -p "$work"
cargo package --quiet --locked --allow-dirty --no-verify -p stairnoise
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
rm -rf "$work/crate"
mkdir "$work/crate"
tar -xzf "target/package/stairnoise-$version.crate" -C "$work/crate" --strip-components 1

# A user has the crate outside a workspace, without the workspace's profiles. Unoptimised tests would take minutes.
say "the tests of stairnoise $version, unpacked"
export CARGO_PROFILE_TEST_OPT_LEVEL=2 CARGO_TARGET_DIR="$work/target"
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
mv "$work/crate" "$away/crate"
# The tests contain the crate's folder, and cargo would reuse tests that it built for an earlier folder.
(cd "$away/crate" && cargo clean --quiet --locked -p stairnoise)
(cd "$away/crate" && cargo test --quiet --locked --all-features --lib --tests --examples)
(cd "$away/crate" && cargo test --quiet --locked --all-features --doc)

say 'cargo publish --dry-run'
if cargo publish --locked --allow-dirty --dry-run -p stairnoise >"$log" 2>&1; then
    tail -n 2 "$log"
elif grep -qiE 'could not (resolve|connect)|download of config.json failed|network|timed out|offline' "$log"; then
    printf '\nNOT RUN:\n  cargo publish --dry-run: the registry was not reached\n'
else
    cat "$log"
    exit 1
fi
