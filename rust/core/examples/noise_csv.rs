//! Adds noise to one column of counts in a CSV file, and prints the private table:
//!
//!     cargo run --example noise_csv -- visits.csv --column people --eps 0.5
//!
//! The table is ε-differentially private if a person changes only one count, by at most `--sensitivity` (1 by default). The other columns are
//! printed unchanged, and the output reveals which rows exist. Neither must depend on any person: list all groups, including empty ones.
//!
//! If a file is refused, nothing is printed. Errors name the line and the column, never a cell's content.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;

use csv::{ByteRecord, Reader, Writer};
use stairnoise::{DiscreteLaplace, Generator, Mechanism};

const USAGE: &str = "usage: noise_csv FILE --column NAME --eps EPS [--sensitivity N]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match private_table(&arguments) {
        Ok(table) if std::io::stdout().write_all(&table).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("noise_csv: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The private table, as CSV.
///
/// # Errors
/// An error names the argument, or the line and the column.
pub fn private_table(arguments: &[String]) -> Result<Vec<u8>, Box<dyn Error>> {
    let Arguments { file, column, mechanism } = Arguments::of(arguments)?;
    let mut reader = Reader::from_reader(File::open(file)?);
    let header = reader.byte_headers()?.clone();
    let place = only(&header, column)?;
    let mut rows: Vec<ByteRecord> = reader.byte_records().collect::<Result<_, _>>()?;
    let counts: Vec<i64> = rows.iter().map(|row| count(row, place, column)).collect::<Result<_, _>>()?;
    let private = mechanism.release_vec(&mut Generator::from_os()?, &counts)?;
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_byte_record(&header)?;
    for (row, count) in rows.iter_mut().zip(private) {
        let text = count.to_string();
        let fields = row.iter().enumerate();
        let fields = fields.map(|(at, field)| if at == place { text.as_bytes() } else { field });
        writer.write_record(fields)?;
    }
    Ok(writer.into_inner()?)
}

struct Arguments<'a> {
    file: &'a str,
    column: &'a str,
    mechanism: DiscreteLaplace,
}

impl<'a> Arguments<'a> {
    fn of(arguments: &'a [String]) -> Result<Self, Box<dyn Error>> {
        let (mut file, mut column, mut eps, mut sensitivity) = (None, None, None, 1);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or(USAGE);
            match argument.as_str() {
                "--column" => column = Some(value()?),
                "--eps" => eps = Some(value()?.parse().map_err(|_| "--eps must be a number")?),
                "--sensitivity" => sensitivity = value()?.parse().map_err(|_| "--sensitivity must be a whole number")?,
                name if !name.starts_with("--") && file.is_none() => file = Some(name),
                _ => return Err(USAGE.into()),
            }
        }
        match (file, column, eps) {
            (Some(file), Some(column), Some(eps)) => Ok(Self {
                file,
                column,
                mechanism: DiscreteLaplace::new(eps, sensitivity)?,
            }),
            _ => Err(USAGE.into()),
        }
    }
}

/// The place of the only column with this name.
fn only(header: &ByteRecord, column: &str) -> Result<usize, String> {
    let mut places = (0..header.len()).filter(|place| &header[*place] == column.as_bytes());
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (None, _) => Err(format!("the header has no column {column}")),
        (Some(_), Some(_)) => Err(format!("the header has column {column} twice")),
    }
}

fn count(row: &ByteRecord, place: usize, column: &str) -> Result<i64, String> {
    let text = row.get(place).and_then(|cell| std::str::from_utf8(cell).ok());
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let line = row.position().map_or(0, csv::Position::line);
        format!("line {line}: column {column} must be an integer of 64 bits")
    })
}
