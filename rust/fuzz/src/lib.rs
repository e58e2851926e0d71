//! The fuzz targets. An ordinary test of the crate runs them too (`rust/core/tests/interface/fuzz`).

#[path = "../../core/tests/interface/fuzz/targets/mod.rs"]
pub mod targets;
