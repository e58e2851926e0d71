//! The slow path (`stairnoise::exact`) against an independent high-precision library, `dashu`, which shares no code with it.

mod exp;
mod magnitude;
mod oracle;
mod shape;
