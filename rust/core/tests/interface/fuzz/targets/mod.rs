//! The fuzz targets: functions that run the crate on any bytes, and panic if it is wrong.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "conversions of numbers that are in range, and floats that are equal"
)]

pub mod fill;
pub mod gaussians;
mod input;
mod oracle;
pub mod parameters;
pub mod partitions;
pub mod per_element;
pub mod release;
pub mod selection;
#[path = "../../../../examples/common/several_draws.rs"]
pub(crate) mod several_draws;
pub mod staged;
pub mod truncated;
pub mod vectors;

pub type Run = fn(&[u8]);

/// All targets by their names in `rust/fuzz/fuzz_targets`.
pub const ALL: [(&str, Run); 10] = [
    ("parameters", parameters::run),
    ("fill", fill::run),
    ("release", release::run),
    ("per_element", per_element::run),
    ("gaussians", gaussians::run),
    ("staged", staged::run),
    ("vectors", vectors::run),
    ("selection", selection::run),
    ("partitions", partitions::run),
    ("truncated", truncated::run),
];
