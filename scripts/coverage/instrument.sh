#!/bin/sh
# cargo's RUSTC_WORKSPACE_WRAPPER: counts are wanted of the workspace's own crates only.
exec "$@" -C instrument-coverage
