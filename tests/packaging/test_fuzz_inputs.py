"""The kept inputs of fuzz targets are unpacked unchanged from their files."""

from pathlib import Path

import pytest

from scripts.fuzz_inputs import pack, unpack

CORPUS = Path(__file__).resolve().parents[2] / "rust" / "fuzz" / "corpus"


@pytest.mark.parametrize("file", sorted(CORPUS.iterdir()), ids=lambda file: file.stem)
def test_kept_inputs_pack_to_the_same_file(file, tmp_path):
    unpack(file, tmp_path / "inputs")
    assert len(list((tmp_path / "inputs").iterdir())) == len(file.read_text("ascii").splitlines())
    pack(tmp_path / "inputs", tmp_path / "packed.hex")
    assert (tmp_path / "packed.hex").read_bytes() == file.read_bytes()


def test_any_bytes_come_back(tmp_path):
    inputs = [b"", b"\0", b"\n", b"\r\n\xff", bytes(range(256))]
    folder = tmp_path / "inputs"
    folder.mkdir()
    for number, data in enumerate(inputs):
        (folder / str(number)).write_bytes(data)
    pack(folder, tmp_path / "packed.hex")
    unpack(tmp_path / "packed.hex", tmp_path / "again")
    assert sorted(path.read_bytes() for path in (tmp_path / "again").iterdir()) == sorted(inputs)
