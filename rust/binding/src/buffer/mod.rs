//! The gate between NumPy's memory and the core: element types, strides, borrows, and when to let other threads run.
//!
//! Every fact about an array is read from NumPy's own structure, which no subclass can override. Noise is written only to the memory found
//! there. Elements need not be aligned. All steps that can fail come before a fill is taken.
//!
//! | file | subject |
//! |---|---|
//! | `array` | code for both kinds of arrays |
//! | `output` | arrays that are written, piece by piece |
//! | `input` | arrays that are read, in the order of the output |

pub(crate) mod array;
mod input;
mod output;

pub(crate) use array::{
    Elements, Inputs, LONGER, Parts, STAGE, data, detach_for, filled, is_writable, new_array, same_memory, same_shape,
    with_answers, with_floats, with_output, with_residues, zeros,
};
pub(crate) use input::{InOrder, Input, Rows, frozen};
pub(crate) use output::{Output, Piece};
