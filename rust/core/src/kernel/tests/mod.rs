//! The kernels' bounds: proven, and tried where an error would show.

mod edges;
mod exhaustive;
mod proof;
