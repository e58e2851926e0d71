"""Tables that ``stairnoise release`` reads: delimiters, encodings, standard input, and numbers as they are.

Evidence: the written cells, and discrete noise at eps = 700, which is 0 with probability 1 - 1e-304.
"""

import io
import sys

import pytest

from stairnoise._errors import ParameterError
from stairnoise.cli import main
from stairnoise.cli.csv_table import read_table


def write(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


DELIMITED = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


@pytest.mark.parametrize("asked", [None, "by name", "by itself"])
@pytest.mark.parametrize(("name", "sign"), DELIMITED.items(), ids=DELIMITED)
def test_a_delimiter_is_found_or_asked_for(tmp_path, name, sign, asked):
    others = "".join(other for other in DELIMITED.values() if other != sign)
    path = write(tmp_path, f'city{sign}count{sign}note\n"a{sign}b"{sign}12{sign}{others}\n')
    table = read_table(path, "count", {None: None, "by name": name, "by itself": sign}[asked])
    assert table == (["city", "note"], [[f"a{sign}b", others]], "count", [12])


def test_a_delimiter_that_is_asked_for_is_the_only_one(tmp_path):
    path = write(tmp_path, "city;count\na;1\n")
    with pytest.raises(ParameterError, match="column must be in the header, which has 1 names, got 'count'"):
        read_table(path, "count", "comma")


@pytest.mark.parametrize("text", ["count\n1\n", "a count\n1\n", "x:count\n1\n"])
def test_one_column_needs_no_delimiter(tmp_path, text):
    assert read_table(write(tmp_path, text), text.partition("\n")[0]).values == [1]


def test_any_character_may_be_the_delimiter(tmp_path):
    assert read_table(write(tmp_path, "city:count\na:1\n"), "count", ":").keys == [["a"]]
    for wrong in ("", "::", '"', "\n"):
        with pytest.raises(ParameterError, match="delimiter must be comma, semicolon, tab, pipe or one character"):
            read_table(write(tmp_path, "city:count\na:1\n"), "count", wrong)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_encoding_is_found_by_its_mark(tmp_path, encoding):
    assert read_table(write(tmp_path, "city,count\nŁódź,1\n", encoding), "count").keys == [["Łódź"]]


@pytest.mark.parametrize("encoding", ["iso8859-2", "cp1250", "utf-16-be", "UTF8"])
def test_an_encoding_is_asked_for_by_name(tmp_path, encoding):
    assert read_table(write(tmp_path, "city,count\nŁódź,1\n", encoding), "count", None, encoding).keys == [["Łódź"]]


def test_wrong_encodings_are_one_line(tmp_path):
    path = write(tmp_path, "city,count\nŁódź,1\n", "iso8859-2")
    with pytest.raises(ParameterError, match=r"table.csv must be UTF-8, got other bytes in line 2; name its encoding"):
        read_table(path, "count")
    with pytest.raises(ParameterError, match=r"table.csv must be ASCII, got other bytes$"):
        read_table(path, "count", None, "ascii")
    for unknown in ("latin-9000", "rot13", "base64", "a\0b", ""):
        with pytest.raises(ParameterError, match="encoding must be one that Python knows"):
            read_table(path, "count", None, unknown)


def test_standard_input_is_read(capsys, monkeypatch):
    for content, code, text in [
        (b"city;count\na;12\n", 0, "12"),
        (b"", 2, "standard input must be a CSV file with a header line"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert main(["release", "--sensitivity", "1", "-", "--eps", "700"]) == code
        captured = capsys.readouterr()
        assert text in (captured.err if code else captured.out)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**62 + 1])
def test_large_integers_are_released_and_shown_exactly(tmp_path, capsys, value):
    path = write(tmp_path, f"count\n{value}\n7\n")
    assert main(["release", "--sensitivity", "1", str(path), "--eps", "700", "--show-true"]) == 0
    assert f"{value} {value}" in " ".join(capsys.readouterr().out.split())


def test_blank_lines_quotes_and_other_line_ends(tmp_path):
    text = '\r\n\r\ncity,count\r\n\r\n"a\r\nb ""c""",1\r\n\r\nd,2'
    for end in ("\r\n", "\n", "\r"):
        table = read_table(write(tmp_path, text.replace("\r\n", end)), "count")
        assert table.keys == [[f'a{end}b "c"'], ["d"]]
        assert table.values == [1, 2]


@pytest.mark.parametrize("text", [" 12", "+12", "12 ", "12.0", "1.2e1", "012"])
def test_numbers_as_programs_write_them(tmp_path, text):
    assert read_table(write(tmp_path, f"count\n{text}\n"), "count").values == [12]


@pytest.mark.parametrize(
    "text", ["", "1,000", "1_000", "1 000", "0x10", "1j", "nan", "inf", "-infinity", "1e999", "٣", "1" * 5000]
)
def test_other_texts_are_no_numbers(tmp_path, text):
    with pytest.raises(ParameterError, match="line 2: 'count' is"):
        read_table(write(tmp_path, f'other,count\nx,"{text}"\n'), "count")


@pytest.mark.parametrize("column", ["age", "sex", "note"])
def test_blanks_around_names_and_values_are_left_out_alike(tmp_path, column):
    """Blanks after a comma, as in the census file, and before a quote are dropped; blanks within a name stay."""
    text = 'age, work class, sex , note\n39, State gov, 1,  "a, b"\n 50 , Self emp , 2 ,7\n'
    if column == "note":
        text = text.replace('"a, b"', "6")
    found = read_table(write(tmp_path, text), column)
    rows = [["39", "State gov", "1", "6" if column == "note" else "a, b"], ["50", "Self emp", "2", "7"]]
    place = ["age", "work class", "sex", "note"].index(column)
    assert found.key_names == [name for name in ("age", "work class", "sex", "note") if name != column]
    assert found.values == [int(row[place]) for row in rows]
    assert found.keys == [row[:place] + row[place + 1 :] for row in rows]


def test_a_blank_can_be_the_delimiter(tmp_path):
    assert read_table(write(tmp_path, "city count\na 1\n"), "count", " ").keys == [["a"]]
