//! Parameters of consecutive values.

use crate::kernel::BLOCK;
use crate::mechanism::Shape;

/// Parameters of consecutive values, as many in every slice.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// ε.
    pub eps: &'a [f64],
    /// Δ.
    pub sensitivity: &'a [f64],
    /// Ignored by the Laplace kinds.
    pub shape: Shapes<'a>,
}

/// Shapes of consecutive values.
#[derive(Clone, Copy, Debug)]
pub enum Shapes<'a> {
    /// The same for all.
    Same(Shape),
    /// A [`Shape::Number`] for each.
    Numbers(&'a [f64]),
}

impl Shapes<'_> {
    fn at(&self, i: usize) -> Shape {
        match self {
            Self::Same(shape) => *shape,
            Self::Numbers(numbers) => Shape::Number(numbers[i]),
        }
    }

    /// One of them; all have its kind of shape.
    pub(super) fn form(&self) -> Shape {
        match self {
            Self::Same(shape) => *shape,
            Self::Numbers(_) => Shape::Number(1.0),
        }
    }
}

impl Parameters<'_> {
    /// The parameters of value i: ε, Δ and the shape.
    pub fn at(&self, i: usize) -> (f64, f64, Shape) {
        (self.eps[i], self.sensitivity[i], self.shape.at(i))
    }

    pub(super) fn lengths(&self) -> [usize; 3] {
        let numbers = match self.shape {
            Shapes::Same(_) => self.eps.len(),
            Shapes::Numbers(numbers) => numbers.len(),
        };
        [self.eps.len(), self.sensitivity.len(), numbers]
    }

    /// The parameters of up to [`BLOCK`] values from `first` on.
    pub(super) fn block(&self, first: usize) -> Self {
        let end = self.eps.len().min(first + BLOCK);
        Self {
            eps: &self.eps[first..end],
            sensitivity: &self.sensitivity[first..end],
            shape: match self.shape {
                Shapes::Same(shape) => Shapes::Same(shape),
                Shapes::Numbers(numbers) => Shapes::Numbers(&numbers[first..end]),
            },
        }
    }
}
