//! Where no instruction encrypts several blocks: the types of `vaes`, without a value.

use super::pieces::{Piece, RoundKeys};
use crate::kernel::Tier;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wide {}

impl Wide {
    pub fn of(_: Tier) -> Option<Self> {
        None
    }

    #[cfg(test)]
    pub fn all() -> impl Iterator<Item = Self> {
        core::iter::empty()
    }

    pub fn expand(self, _: &[u8; 32], _: &RoundKeys) {
        match self {}
    }

    pub fn encrypt(self, _: &RoundKeys, _: u64, _: u64, _: &Piece) {
        match self {}
    }
}

pub(crate) struct WideCipher(Wide);

impl WideCipher {
    pub fn without_key(wide: Wide) -> Self {
        Self(wide)
    }

    pub fn set_key(&mut self, _: &[u8; 32]) {
        match self.0 {}
    }

    pub fn encrypt_counters(&self, _: u64, _: u64, _: &mut [[u64; 2]]) {
        match self.0 {}
    }

    pub fn encrypt_in_place(&self, _: &mut [[u64; 2]]) {
        match self.0 {}
    }
}
