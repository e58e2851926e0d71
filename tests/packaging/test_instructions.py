"""scripts/instructions_aarch64.py counts instructions correctly in a small log of the emulator."""

from scripts.instructions_aarch64 import count, row

FIRST = "_RINvNtNtC1_10stairnoise6kernel4tier12run_portableINtNtB4_8together9FillingBydE"
SECOND = "_RINvNtNtC1_10stairnoise6kernel4tier12run_portableINtNtB4_4fill9FillingBydE"
LOG = f"""\
----------------
IN: {FIRST}
0x5500000010:  4ee1d400  fadd     v0.2d, v0.2d, v1.2d
0x5500000014:  ad000540  stp      q0, q1, [x10]
0x5500000018:  91000400  add      x0, x0, #1

Trace 0: 0x7fc528000100 [0000000001009331/0000005500000010/00000001/00000200] {FIRST}
Trace 0: 0x7fc528000100 [0000000001009331/0000005500000010/00000001/00000200] {FIRST}
----------------
IN: {SECOND}
0x5500000040:  d503201f  nop
Trace 0: 0x7fc528000200 [0000000001009331/0000005500000040/00000001/00000200] {SECOND}
----------------
IN: {SECOND}
0x5500000044:  1e612800  fadd     d0, d0, d1
Trace 0: 0x7fc528000300 [0000000001009331/0000005500000044/00000001/00000200] {SECOND}
Trace 0: 0x7fc528000300 [0000000001009331/0000005500000044/00000001/00000200] {SECOND}
----------------
IN:
0x5500000080:  d65f03c0  ret
Trace 0: 0x7fc528000400 [0000000001009331/0000005500000080/00000001/00000200]\x20
"""


def test_each_stretch_counts_as_often_as_it_is_entered():
    counts = count(LOG.splitlines())
    assert {part: n for part, n in counts.items() if n} == {
        "first level": 6,
        "vector first level": 4,
        "second level": 3,
        "calls": 1,
        "rest": 1,
    }


def test_a_row_divides_the_second_level_by_the_values_on_it():
    counts = count(LOG.splitlines())
    assert row("work", counts, 2) == "| work |  | 3.0 | 0.0 | 3200.0% |  | 0.5 | 5.0 | 44% |"
