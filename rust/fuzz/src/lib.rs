//! The targets, which an ordinary test of the crate runs too (`rust/core/tests/fuzz`).

#[path = "../../core/tests/fuzz/targets/mod.rs"]
pub mod targets;
