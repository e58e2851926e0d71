//! Compares the slow path (`stairnoise::exact`) with an independent high-precision library, `dashu`, which shares no code with it.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "test points are chosen in floating point; their casts are in range"
)]

mod exp;
mod magnitude;
mod oracle;
mod shape;

/// Whether all points of a check are tried, as `make test-long` does, or a part of them.
fn long() -> bool {
    std::env::var_os("STAIRNOISE_LONG").is_some()
}
