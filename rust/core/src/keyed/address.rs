//! Labels and values as bytes that have one reading only (contract, section 13).
//!
//! A field is a tag of one byte, the length of its body in eight bytes, and the body. Every function appends one field.

use crate::lattice::decompose;

/// No label: a null of a table.
pub fn none(bytes: &mut Vec<u8>) {
    field(bytes, b'N', &[]);
}

/// A truth value; it is another label than 0 or 1.
pub fn bool(bytes: &mut Vec<u8>, value: bool) {
    field(bytes, b'B', &[value.into()]);
}

/// A whole number, whatever its type.
pub fn integer(bytes: &mut Vec<u8>, value: i128) {
    whole(bytes, b'I', value);
}

/// A text: its code points as they are.
pub fn text(bytes: &mut Vec<u8>, value: &str) {
    utf8(bytes, value.as_bytes());
}

/// A text that is known to be UTF-8, as columns of texts are.
pub fn utf8(bytes: &mut Vec<u8>, value: &[u8]) {
    field(bytes, b'S', value);
}

/// Bytes; they are another label than the text that they encode.
pub fn binary(bytes: &mut Vec<u8>, value: &[u8]) {
    field(bytes, b'Y', value);
}

/// A day, counted from 1970-01-01.
pub fn date(bytes: &mut Vec<u8>, day: i64) {
    whole(bytes, b'D', day.into());
}

/// Several fields as one, which `parts` appends.
pub fn tuple(bytes: &mut Vec<u8>, parts: impl FnOnce(&mut Vec<u8>)) {
    bytes.push(b'T');
    let length = bytes.len();
    bytes.extend([0; 8]);
    let begin = bytes.len();
    parts(bytes);
    let body = (bytes.len() - begin) as u64;
    bytes[length..begin].copy_from_slice(&body.to_le_bytes());
}

/// A finite number: equal numbers have equal fields. Whole ones are those of [`integer`].
pub fn number(bytes: &mut Vec<u8>, value: f64) {
    if value.fract() != 0.0 {
        field(bytes, b'F', &value.to_le_bytes());
    } else if value.abs() < LONG {
        integer(bytes, value as i128);
    } else {
        long(bytes, value);
    }
}

/// Smaller whole numbers fit an `i128`.
const LONG: f64 = (1_u128 << 126) as f64;

fn field(bytes: &mut Vec<u8>, tag: u8, body: &[u8]) {
    let mut head = [tag; 9];
    head[1..].copy_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(body);
}

/// Two's complement in the fewest bytes, at least one, the least significant first.
fn whole(bytes: &mut Vec<u8>, tag: u8, value: i128) {
    // Bits besides the sign; of −1 there are none.
    let bits = i128::BITS - (value ^ (value >> (i128::BITS - 1))).leading_zeros();
    let length = bits as usize / 8 + 1;
    let mut field = [0; 25];
    field[0] = tag;
    field[1] = length as u8;
    field[9..].copy_from_slice(&value.to_le_bytes());
    // All of it and then less: a copy of known length is quicker.
    bytes.extend_from_slice(&field);
    bytes.truncate(bytes.len() - 16 + length);
}

/// The field of a whole number of 2⁵³ or more in magnitude, in two's complement as [`whole`] has it.
fn long(bytes: &mut Vec<u8>, value: f64) {
    let (mantissa, exponent) = decompose(value.abs());
    let mut body = vec![0; exponent as usize / 8];
    // 53 bits and up to 7 of the shift. The bytes below are 0 for either sign.
    let top = i128::from(mantissa) << (exponent % 8);
    let sign = if value < 0.0 { -1_i8 as u8 } else { 0 };
    body.extend(if value < 0.0 { -top } else { top }.to_le_bytes());
    let used = body.iter().rposition(|byte| *byte != sign).map_or(0, |last| last + 1);
    // Another byte where the highest bit is not that of the sign.
    body.truncate(used + usize::from(used == 0 || (body[used - 1] ^ sign) >= 0x80));
    field(bytes, b'I', &body);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes);
        bytes
    }

    /// Evidence: bodies by hand, by the rule "two's complement in the fewest bytes".
    #[test]
    fn whole_numbers_take_the_fewest_bytes() {
        for (value, body) in [
            (0, &[0][..]),
            (-1, &[0xff]),
            (127, &[0x7f]),
            (128, &[0x80, 0]),
            (-128, &[0x80]),
            (-129, &[0x7f, 0xff]),
            (i128::from(i64::MAX), &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            (1 << 63, &[0, 0, 0, 0, 0, 0, 0, 0x80, 0]),
        ] {
            let bytes = of(|bytes| integer(bytes, value));
            assert_eq!(bytes[0], b'I');
            assert_eq!(bytes[1..9], (body.len() as u64).to_le_bytes());
            assert_eq!(&bytes[9..], body, "{value}");
        }
    }

    /// Evidence: the same number by way of an `i128`, and beyond it by the same number times a power of 256, whose body has as many more zeros.
    #[test]
    fn floats_have_the_field_of_their_integer() {
        for exponent in 53..126 {
            for mantissa in [1_i64 << 52, (1 << 52) + 1, (1 << 53) - 1, 3 << 51] {
                for sign in [1, -1] {
                    let whole = i128::from(sign * mantissa) << (exponent - 53);
                    let float = whole as f64;
                    assert_eq!(of(|bytes| long(bytes, float)), of(|bytes| integer(bytes, whole)), "{float}");
                    assert_eq!(of(|bytes| number(bytes, float)), of(|bytes| integer(bytes, whole)), "{float}");
                    if sign > 0 {
                        let larger = of(|bytes| number(bytes, float * 2_f64.powi(800)));
                        let mut body = vec![0; 100];
                        body.extend(&of(|bytes| integer(bytes, whole))[9..]);
                        assert_eq!(larger[9..], body, "{float}");
                    }
                }
            }
        }
        assert_eq!(of(|bytes| number(bytes, -0.0)), of(|bytes| integer(bytes, 0)));
        assert_eq!(of(|bytes| number(bytes, -3.0)), of(|bytes| integer(bytes, -3)));
        assert_eq!(of(|bytes| number(bytes, 0.5))[0], b'F');
    }

    #[test]
    fn fields_of_different_things_differ() {
        let fields = [
            of(none),
            of(|bytes| bool(bytes, true)),
            of(|bytes| integer(bytes, 1)),
            of(|bytes| text(bytes, "1")),
            of(|bytes| binary(bytes, b"1")),
            of(|bytes| date(bytes, 1)),
            of(|bytes| tuple(bytes, |_| ())),
            of(|bytes| tuple(bytes, none)),
            of(|bytes| tuple(bytes, |bytes| text(bytes, "ab"))),
            of(|bytes| {
                tuple(bytes, |bytes| {
                    text(bytes, "a");
                    text(bytes, "b");
                });
            }),
        ];
        for (i, one) in fields.iter().enumerate() {
            assert!(fields[..i].iter().all(|other| other != one));
        }
    }
}
