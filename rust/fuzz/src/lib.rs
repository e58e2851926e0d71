//! The fuzz targets. An ordinary test of the crate runs them too (`rust/core/tests/fuzz`).

#[path = "../../core/tests/fuzz/targets/mod.rs"]
pub mod targets;
