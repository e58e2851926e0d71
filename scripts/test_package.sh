#!/bin/sh
# The crate as crates.io would have it: packed, unpacked away from the repository, tested there, and offered to the registry for a trial.
#
#   scripts/test_package.sh        exit 0 if everything that ran passed; the last lines name what was not run
#
# Tests of golden vectors and of the fuzz corpus, which are not in the package, say NOT RUN.
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

# Outside a workspace, as a user has it. The profiles are the workspace's, and without optimisation the tests take minutes.
say "the tests of stairnoise $version, unpacked"
export CARGO_PROFILE_TEST_OPT_LEVEL=2 CARGO_TARGET_DIR="$work/target"
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
mv "$work/crate" "$away/crate"
# The crate's folder is compiled into its tests, and cargo takes what it made in an earlier folder for fresh.
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
