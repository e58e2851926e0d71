//! The kernels' bounds: proven, and tried where an error would show; and the instructions that they use.

mod edges;
mod exhaustive;
mod gaussian;
mod instructions;
mod proof;
