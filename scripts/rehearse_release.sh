#!/bin/sh
# Runs CONTRIBUTING's release list in order in a clean clone, without the steps that need the forge or a registry's account.
#
#   scripts/rehearse_release.sh VERSION [STEP...]     all steps by default, which takes hours
#
# Prints a line for each step, as in docs/evidence/release_rehearsal.md. In target/rehearsal, `rows` has the lines of every run, and
# STEP.log a step's output. After a failed step the next one runs. If steps are named, the clone is kept between runs while it has
# the newest commit.
set -u

version=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/target/rehearsal
clone=$work/stairnoise
all='test test-long test-aarch64 test-avx512 check-platforms check-msrv test-package semver audit bench version crate wheels reproduce readme index'
commit=$(git -C "$root" rev-parse HEAD) || exit 1
if [ $# = 0 ]; then
    rm -rf "$work"
    # shellcheck disable=SC2086
    set -- $all
fi
if ! git -C "$clone" merge-base --is-ancestor "$commit" HEAD 2>/dev/null; then
    rm -rf "$work"
    git clone --quiet --no-hardlinks "$root" "$clone" || exit 1
    # Cargo's tools and the interpreters for other machines take minutes to make, and no artifact contains them.
    mkdir -p "$root/target/tools" "$root/target/pythons" "$clone/target"
    ln -s "$root/target/tools" "$root/target/pythons" "$clone/target"
fi
cd "$clone" || exit 1
short=$(git rev-parse --short=8 "$commit")
rustc --version | tee -a "$work/rows"
status=0

# Step 2 of the list, in the clone alone; then the workflow's checks of a tag.
set_version() {
    sed -i "s/^version = \".*\"/version = \"$version\"/" Cargo.toml &&
        sed -i "s/^  version: \".*\"/  version: \"$version\"/" packaging/conda-forge/recipe.yaml &&
        sed -i "1s/(.*)/($version-1)/" packaging/debian/changelog &&
        sed -i "s/^## \[Unreleased\]/## [Unreleased]\n\n## [$version] - $(date -u +%F)/" CHANGELOG.md &&
        cargo update --workspace &&
        git -c user.name=rehearsal -c user.email=rehearsal@localhost commit --quiet --all --message "Version $version" &&
        git tag "v$version" &&
        test "v$version" = "v$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)" &&
        grep -q "^## \[$version\] - 20" CHANGELOG.md &&
        cargo metadata --locked --format-version 1 >/dev/null
}

# Does what `cargo publish --dry-run` does, but asks only the index.
crate() {
    cargo package --locked -p stairnoise
}

# Fails on a README that the index would refuse or show as plain text.
readme() {
    python3 -m venv "$work/twine" && "$work/twine/bin/python" -m pip install --quiet twine &&
        "$work/twine/bin/twine" check --strict dist/*.whl dist/*.tar.gz
}

# Step 5, with an index on this machine.
index() {
    python3 -m venv "$work/index" && "$work/index/bin/python" -m pip install --quiet pytest &&
        STAIRNOISE_DIST="$clone/dist" "$work/index/bin/python" -m pytest -q --noconftest -c /dev/null --rootdir . tests/packaging/test_local_index.py
}

for step in "$@"; do
    log=$work/$step.log
    at=$(date -u +'%F %H:%M UTC')
    began=$(date +%s)
    case "$step" in
    version) set_version >"$log" 2>&1 ;;
    crate | readme | index) "$step" >"$log" 2>&1 ;;
    *) make "$step" >"$log" 2>&1 ;;
    esac
    code=$?
    [ "$code" = 0 ] && said=passed || said="FAILED ($code)"
    [ "$code" = 0 ] || status=1
    # `make audit` ends with the questions that it could not ask. A check that could ask none gives the reason in its last line.
    grep -q '^NOT RUN:$' "$log" && said="$said, with questions that were not asked"
    reason=$(tail -n 1 "$log" | sed -n 's/^NOT RUN: //p')
    [ -z "$reason" ] || said="not run: $reason"
    case "$step" in
    test-avx512 | wheels) [ -z "${TESTS:-}" ] || said="$said, with TESTS='$TESTS'" ;;
    esac
    printf '| %s | %s | %s | %d s | %s |\n' "$step" "$short" "$at" "$(($(date +%s) - began))" "$said" | tee -a "$work/rows"
done
exit "$status"
