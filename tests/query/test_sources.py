"""Sources are files, servers and open connections; queries only read them, from one snapshot.

Evidence: the same rows from every kind of source; writers that change them meanwhile.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import sqlite3
import traceback
from itertools import product
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query import SourceError
from stairnoise.query.question import Question, question
from stairnoise.query.reading import reading
from stairnoise.query.sources import open_source, postgresql, sqlite
from stairnoise.query.statistics import Mean
from tests.combinations import in_turn, rest_long
from tests.interface.canaries import NUMBER, TEXT, leaks

duckdb = pytest.importorskip("duckdb")

ASKED = Question("t", ("g",), {"g": ("a", "b", None)}, (Mean("v", (0.0, 10.0)),), where="v < 9", person="who")
ROWS = [("p", "a", 1.5), ("p", "a", 2.0), ("q", "b", 3.0), ("r", None, 4.0), ("s", "a", 9.0)]
TYPES, NOTHING = reading({"v": "real"}, None), reading(None, None)
COUNTS, SUMS = [1, 1, 1], [3.5, 3.0, 4.0]
TABLE = "create table t (who text, g text, v double precision)"


def check(source):
    found = source.answers(ASKED)
    assert found.counts.tolist() == COUNTS
    assert (found.sums[0] * found.units).tolist() == SUMS
    assert source.columns("t") == ["who", "g", "v"]


def sqlite_file(path):
    with contextlib.closing(sqlite3.connect(path)) as con:
        con.execute(TABLE)
        con.executemany("insert into t values (?, ?, ?)", ROWS)
        con.commit()
    return path


def duckdb_file(path):
    with duckdb.connect(str(path)) as con:
        con.execute(TABLE)
        con.executemany("insert into t values (?, ?, ?)", ROWS)
    return path


def csv_file(path, rows=ROWS):
    lines = ["who,g,v", *(",".join("" if value is None else str(value) for value in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def parquet_file(path):
    with duckdb.connect() as con:
        con.execute(TABLE)
        con.executemany("insert into t values (?, ?, ?)", ROWS)
        con.execute(f"copy t to '{path}' (format parquet)")
    return path


FILES = {
    "t.db": sqlite_file,
    "x.sqlite3": sqlite_file,
    "x.duckdb": duckdb_file,
    "no suffix": duckdb_file,
    "o'brien #1 %41.db": sqlite_file,
    "t.csv": csv_file,
    "t.CSV": csv_file,
    "t.parquet": parquet_file,
}


@pytest.mark.parametrize(("name", "kind"), rest_long(in_turn(FILES, [str, Path]), product(FILES, [str, Path])))
def test_files(tmp_path, name, kind):
    path = FILES[name](tmp_path / name)
    before = path.read_bytes()
    with open_source(kind(path), TYPES if name.lower().endswith(".csv") else NOTHING) as source:
        check(source)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_a_directory_with_a_quote(tmp_path):
    (tmp_path / "o'brien").mkdir()
    with open_source(csv_file(tmp_path / "o'brien" / "t.csv"), TYPES) as source:
        check(source)


def test_a_csv_file_of_texts_has_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("g,h\na,b\na,c\n")
    with open_source(tmp_path / "t.csv") as source:
        assert source.columns("t") == ["g", "h"]
        assert source.answers(Question("t", ("g",), {"g": ("a",)})).counts.tolist() == [2]


# Lines with other numbers of fields, and no header: an error must not propose a name from the first line, which can be data.
RAGGED = f"name,city,salary\n{TEXT},Rome,1\nbob,Rome\n{TEXT},{NUMBER},5,3,2\n"


@pytest.mark.parametrize("content", [RAGGED, RAGGED.partition("\n")[2], f"{TEXT},{NUMBER}\nbob,2\n"])
@pytest.mark.parametrize("asked", [{"by": "canar", "groups": ["a"]}, {"by": "73195", "delta": 1e-3}, {"where": "canar > 1"}])
def test_no_error_about_a_csv_file_proposes_a_name(tmp_path, content, asked):
    """Evidence: a text and a number that occur nowhere else are not in the traceback. The arguments resemble them."""
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises((sn.ParameterError, SourceError)) as caught:
        query.count(tmp_path / "t.csv", "t", row_is_person=True, eps=1, **asked)
    assert not leaks("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("row_factory", [None, sqlite3.Row, lambda *_: None])
def test_an_open_connection_of_sqlite(tmp_path, row_factory):
    """The connection stays open, outside a transaction, with its own settings and functions."""
    with contextlib.closing(sqlite3.connect(sqlite_file(tmp_path / "t.db"))) as con:
        con.row_factory, con.text_factory = row_factory, bytes
        con.set_authorizer(None)
        with open_source(con) as source:
            check(source)
        assert not con.in_transaction
        assert con.row_factory is row_factory
        assert con.text_factory is bytes
        with pytest.raises(sqlite3.OperationalError, match="function"):
            con.execute("select stairnoise_order(cast('x' as blob))")


def test_an_open_transaction_of_sqlite_stays_open(tmp_path):
    with contextlib.closing(sqlite3.connect(sqlite_file(tmp_path / "t.db"))) as con:
        con.execute("insert into t values ('new', 'b', 1.0)")
        unfinished = con.execute("select * from t")
        unfinished.fetchone()
        with open_source(con) as source:
            assert source.answers(ASKED).counts.tolist() == [1, 2, 1]
        assert con.in_transaction
        con.rollback()


def test_an_open_connection_of_duckdb(tmp_path):
    with duckdb.connect(str(duckdb_file(tmp_path / "x"))) as con:
        with open_source(con) as source:
            check(source)
        con.execute("begin")
        con.execute("insert into t values ('new', 'b', 1.0)")
        with open_source(con) as source:
            with pytest.raises(sn.ParameterError):
                source.answers(Question("t", (), {}, where="v = 'x"))
            with pytest.raises(sn.ParameterError):
                source.answers(Question("t", (), {}, where="who > 5"))
            assert source.answers(ASKED).counts.tolist() == [1, 2, 1]
        con.execute("rollback")
        assert con.execute("select count(*) from t").fetchall() == [(5,)]


def test_a_registered_frame_is_a_table_and_a_variable_is_none():
    pd = pytest.importorskip("pandas")
    t = pd.DataFrame(ROWS, columns=["who", "g", "v"])
    with duckdb.connect() as con:
        with open_source(con) as source, pytest.raises(sn.ParameterError, match="table must be a table or view"):
            source.columns("t")
        con.register("t", t)
        with open_source(con) as source:
            check(source)


def test_a_macro_with_the_name_of_a_function_is_no_function():
    with duckdb.connect() as con:
        con.execute(TABLE)
        con.execute("create macro lower(x) as (select count(*) from t)")
        with pytest.raises(SourceError, match="has a macro with the name of a built-in"):
            open_source(con)


def test_no_macro_can_take_the_place_of_a_function_of_a_statement():
    """Evidence: DuckDB's parser names the functions and operators of statements of all kinds, most of which a macro replaces."""
    from stairnoise.query.sources.duckdb import _CALLED

    called: set[str] = set()

    def collected(node):
        called.add(str(node.get("function_name", "count_star")).lower())
        return node

    statistics = [
        ("count", None, None),
        ("mean", "x", (0, 1)),
        ("sum", "n", (0, 5)),
        ("sum", "b", (0, 1)),
        ("sum", "e", (0, 1.5)),
    ]
    statistics += [("median", "x", (0, 1), 0.5), ("quantile", "n", (0, 9), 0.9), ("quantile", "e", (0, 9), 0.9)]
    where = "x + 1.5 * n - e > 2 and trim(g) like 'a%' and year(d) > 3 and g ilike '%b' and coalesce(length(g), 1) = 1"
    with duckdb.connect() as con:
        con.execute(
            "create table t (who varchar, n integer, g varchar, d date, m timestamp, x double, e decimal(9, 2), b boolean)"
        )
        for by, groups in (
            (("g", "d", "month(d)", "hour(m)", "week(d)", "weekday(m)"), {"g": [str(number) for number in range(9)]}),
            (("n", "x", "e", "b", "g"), {"n": [1], "x": [0.5], "e": [1], "b": [True, None], "g": ["a"]}),
        ):
            asked = question(statistics, "t", by, groups, person="who", where=where)
            with open_source(con) as source:
                for text, _ in source.statements(source.checked(asked), bytes(32)):
                    ((tree,),) = con.execute("select json_serialize_sql(?::varchar)", [text]).fetchall()
                    assert not json.loads(tree, object_hook=collected)["error"]
    assert {"dense_rank", "//", "||", "enum_code", "date_part"} <= called
    assert called <= _CALLED


@pytest.fixture
def server(postgresql):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgresql) as con:
        con.execute("drop table if exists t cascade")
        con.execute(TABLE)
        con.cursor().executemany("insert into t values (%s, %s, %s)", ROWS)
    return postgresql


def test_a_server(server):
    with open_source(server) as source:
        check(source)
    with open_source(server.replace("postgresql:", "postgres:")) as source:
        check(source)


@pytest.mark.parametrize("autocommit", [True, False])
def test_an_open_connection_of_psycopg(server, autocommit):
    psycopg = pytest.importorskip("psycopg")
    rows = pytest.importorskip("psycopg.rows")
    with psycopg.connect(server, autocommit=autocommit, row_factory=rows.dict_row) as con:
        path = con.execute("show search_path").fetchone()
        con.rollback()
        with open_source(con) as source:
            check(source)
        assert con.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with con.transaction(force_rollback=True):
            con.execute("insert into t values ('new', 'b', 1.0)")
            with open_source(con) as source:
                with pytest.raises(sn.ParameterError):
                    source.answers(Question("t", (), {}, where="v = 'x'"))
                assert source.answers(ASKED).counts.tolist() == [1, 2, 1]
            assert con.execute("show search_path").fetchone() == path
            con.execute("insert into t values ('newer', 'b', 1.0)")


def test_the_server_is_only_read(server):
    psycopg = pytest.importorskip("psycopg")
    refused = pytest.raises(psycopg.errors.ReadOnlySqlTransaction)
    with psycopg.connect(server, autocommit=True) as con, open_source(con), refused, con.transaction():
        con.execute("insert into public.t values ('new', 'b', 1.0)")


def test_functions_and_operators_are_postgresqls_own(server):
    """A user-defined function with the name of a built-in one is not called."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server) as con:
        con.execute("create or replace function public.lower(x text) returns text language sql as 'select ''mine''::text'")
    with open_source(server) as source:
        assert source.answers(Question("t", (), {}, where="lower(g) = 'mine'")).counts.tolist() == [0]


def test_schemas(server, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server) as con:
        con.execute("create schema if not exists other")
        con.execute("drop table if exists other.t; create table other.t (x integer)")
        con.execute("create or replace view public.v as select g from t")
    with open_source(server) as source:
        assert source.columns("t") == source.columns("public.t") == ["who", "g", "v"]
        assert source.columns("other.t") == ["x"]
        assert source.columns("v") == ["g"]
    with contextlib.closing(sqlite3.connect(sqlite_file(tmp_path / "t.db"))) as con:
        con.execute("attach ':memory:' as other")
        con.execute("create table other.t (x integer)")
        with open_source(con) as source:
            assert source.columns("t") == source.columns("main.t") == ["who", "g", "v"]
            assert source.columns("other.t") == ["x"]
            assert source.answers(Question("other.t", (), {})).counts.tolist() == [0]


def test_one_snapshot(engine, tmp_path):
    """Rows that another connection writes between two answers are not seen."""
    if engine.name == "SQLite":
        con = sqlite3.connect(sqlite_file(tmp_path / "t.db"))
        con.execute("pragma journal_mode = wal")
        address = tmp_path / "t.db"
    elif engine.name == "Spark":
        pytest.skip("Spark's files have no snapshots; one statement answers a question")
    elif engine.name == "DuckDB":
        pytest.skip("DuckDB lets no other process write a file that is being read; test_a_locked_file covers this")
    else:
        psycopg = pytest.importorskip("psycopg")
        engine.con.execute("drop table if exists t cascade")
        engine.table("t", {"who": "text", "g": "text", "v": "double"}, ROWS)
        con, address = psycopg.connect(engine._address), engine._address
    with contextlib.closing(con), open_source(address) as source:
        check(source)
        con.execute("insert into t values ('new', 'b', 1.0)")
        con.commit()
        check(source)


def _hold(path, ready, done):
    con = sqlite3.connect(path, isolation_level=None) if path.suffix == ".db" else duckdb.connect(str(path))
    con.execute("begin exclusive" if path.suffix == ".db" else "begin")
    ready.set()
    done.wait(60)
    con.close()


@pytest.mark.parametrize("name", ["t.db", "t.duckdb"])
def test_a_locked_file(tmp_path, name, monkeypatch):
    monkeypatch.setattr(sqlite, "_SECONDS_LOCKED", 0.05)
    path = FILES["t.db" if name == "t.db" else "x.duckdb"](tmp_path / name)
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(path, ready, done))
    process.start()
    try:
        assert ready.wait(60)
        refused = pytest.raises(SourceError, match=f"source '{path}' is locked by another program")
        with refused as caught, open_source(path) as source:
            source.columns("t")
        assert "\n" not in str(caught.value)
    finally:
        done.set()
        process.join(60)
    with open_source(path) as source:
        check(source)


def test_a_locked_table(server, monkeypatch):
    settings = [setting.replace("lock_timeout = '2s'", "lock_timeout = '50ms'") for setting in postgresql._SETTINGS]
    assert tuple(settings) != postgresql._SETTINGS
    monkeypatch.setattr(postgresql, "_SETTINGS", settings)
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server) as con:
        con.execute("lock table t in access exclusive mode")
        with open_source(server) as source, pytest.raises(SourceError, match="is locked by another session"):
            source.answers(ASKED)


def damaged(path):
    content = bytearray(sqlite_file(path).read_bytes())
    content[100:] = os.urandom(len(content) - 100)
    path.write_bytes(content)


def text(content):
    return lambda path: path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "make", "error"),
    [
        ("none.db", lambda path: None, "source must be a file that exists, got"),
        ("directory", lambda path: path.mkdir(), "source must be a file that exists, got"),
        ("empty.db", text(b""), "source must be a database of SQLite or DuckDB, or a .csv or .parquet file"),
        ("notes.txt", text(b"name,age\nx,1\n"), "source must be a database of SQLite or DuckDB, or a .csv or .parquet file"),
        ("wrong.parquet", text(b"secret" * 10), "is not a Parquet file that can be read"),
        ("short.parquet", text(b"PAR1"), "is not a Parquet file that can be read"),
        ("nothing.parquet", text(b""), "is not a Parquet file that can be read"),
        ("empty.parquet", text(b"\0" * 8 + b"\x08\0\0\0PAR1"), "could not answer"),
        ("empty.csv", text(b""), "is empty"),
        ("twice.csv", text(b"a;secre;SECRE\n1;2;3\n"), "has one name for columns 2 and 3 in its first line"),
        ("latin.csv", text("a,secret \u00e9\nb,1\n".encode("latin-1")), "has a first line that is not encoded in utf-8"),
        ("quote.csv", text(b'a,"secret\nb,1\n'), "has a quote in its first line that is not closed"),
        ("mac.csv", text(b"a,secret\rb,1\r"), "has a first line that is not a header"),
        ("header.db", text(b"SQLite format 3\0" + b"secret" * 100), "is not a database of SQLite, or is encrypted"),
        ("damaged.db", damaged, "is "),
        (
            "wrong.duckdb",
            text(b"\0" * 8 + b"DUCK" + b"secret" * 1000),
            "could not answer|is not a database that this DuckDB can read",
        ),
    ],
)
def test_what_cannot_be_read(tmp_path, name, make, error):
    make(tmp_path / name)
    with pytest.raises((sn.ParameterError, SourceError), match=error) as caught, open_source(tmp_path / name) as source:
        source.columns("t")
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("source", [None, 5, b"t.db", object(), ["t.db"]])
def test_what_is_no_source(source):
    with pytest.raises(sn.ParameterTypeError, match="source must be a path, a URL, an open connection or a data frame, got"):
        open_source(source)


def test_addresses_of_no_server(postgresql):
    for address in ("postgresql://me:secret@/x?host=/nowhere", "postgresql://me:secret@/x?y=z"):
        with pytest.raises(SourceError, match=r"the PostgreSQL source (cannot be connected to|is not an address)") as caught:
            open_source(address)
        assert "secret" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_table_that_may_not_be_read(server):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server) as con:
        con.execute("drop role if exists reader; create role reader login")
    refused = pytest.raises(SourceError, match="the PostgreSQL source refuses: permission denied for table t")
    with open_source(server.replace("owner@", "reader@")) as source, refused:
        source.answers(ASKED)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("person", [None, "who"])
def test_ctrl_c_stops_a_query_of_sqlite(tmp_path, person):
    """The handler runs inside SQLite's callbacks, which would replace its error; the source stays usable afterwards."""

    def interrupt(*_):
        raise KeyboardInterrupt

    with contextlib.closing(sqlite3.connect(tmp_path / "t.db")) as con:
        con.execute("create table t (who integer)")
        con.execute(
            "with recursive s(i) as (select 1 union all select i + 1 from s where i < 200000) insert into t select i from s"
        )
        con.commit()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with open_source(tmp_path / "t.db") as source:
            slow = Question("t", ("who",), {"who": tuple(range(300))}, person=person)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                source.answers(slow)
            assert source.answers(Question("t", (), {})).counts.tolist() == [200_000]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"


@pytest.mark.skipif(not ADULT.is_file(), reason="needs ../shared/data/adult.csv")
def test_the_adult_census():
    """The counts and means of the thesis on the Laplace and staircase mechanisms (2018)."""
    states = ("Divorced", "Married-AF-spouse", "Never-married")
    listed = {"maritalstatus": states, "race": ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")}
    with open_source(ADULT, reading({"capitalgain": "integer"}, None)) as source:
        counts = source.answers(Question("adult", tuple(listed), listed)).counts.reshape(3, 5)
        one = {"maritalstatus": states}
        means = source.answers(Question("adult", ("maritalstatus",), one, (Mean("capitalgain", (0.0, 1e6)),)))
    assert [[*row[:2], sum(row[2:])] for row in counts.tolist()] == [[3797, 485, 161], [22, 1, 0], [8757, 1346, 580]]
    assert (means.sums[0] * means.units / means.counts).round(3).tolist() == [728.415, 432.652, 376.588]


def test_a_database_reads_no_other_file(tmp_path):
    """Evidence: a stored view of a file that the process's user can read; no setting inside the view enables reading."""
    (tmp_path / "secret.csv").write_text("x\nsecret\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
        con.execute(f"create view v as select x from read_csv('{tmp_path / 'secret.csv'}')")
        con.execute(TABLE)
        con.executemany("insert into t values (?, ?, ?)", ROWS)
    with open_source(tmp_path / "t.duckdb") as source:
        with pytest.raises(SourceError, match="has a view of another file, and other files are not read"):
            source.answers(Question("v", (), {}, where="x = 'secret'"))
        with pytest.raises(SourceError):
            source._ask("set enable_external_access = true")
        check(source)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_directory_names_no_column(tmp_path, name):
    """DuckDB by itself would read the folder name `who=7` as a column, and everybody would be one person."""
    (tmp_path / "who=7").mkdir()
    with open_source(FILES[name](tmp_path / "who=7" / name)) as source:
        assert source.answers(Question("t", (), {}, person="who")).counts.tolist() == [4]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "x.duckdb"])
def test_what_does_not_fit_into_memory_is_for_the_user_alone(tmp_path, name):
    """Evidence: the engine's own setting and the permissions of its spill directory, which is removed afterwards."""
    with open_source(FILES[name](tmp_path / name), TYPES if name == "t.csv" else NOTHING) as source:
        ((found,),) = source._ask("select current_setting('temp_directory')")
        directory = Path(found)
        assert tmp_path not in directory.parents
        assert Path.cwd() not in directory.parents
        assert directory.stat().st_mode & 0o777 == 0o700
        check(source)
    assert not directory.exists()


SECRETS = [
    "Postgresql://bob:S3CRET@h.invalid/db",
    "POSTGRES://bob:S3CRET@h.invalid/db",
    "postgresql://bob:S3CRET@h1.invalid,h2.invalid/db",
    "postgresql://bob:S3CRET",
    "postgresql://bob:S3CRET/db",
    "postgresql://bob:S3CRET?x=1",
    "postgresql://bob:p@S3CRET@h.invalid/db",
    "postgresql://bob:p/S3CRET@h.invalid/db",
    "postgresql://bob:p?S3CRET@h.invalid/db",
    "postgresql://bob:p:S3CRET@[x/db",
    "postgresql://h.invalid/db?password=S3CRET",
    "postgresql://h.invalid/db?password=p@S3CRET",
    "postgresql://h.invalid/db?pasword=S3CRET",
    "postgres:/bob:S3CRET@h.invalid/db",
    "mysql://bob:S3CRET@h.invalid/db",
    "bob:S3CRET@h.invalid/db",
    "host=h.invalid user=bob password=S3CRET",
    "host=h.invalid user=bob PASSWORD = 'S3CRET'",
    Path("postgresql://bob:S3CRET@h.invalid/db"),
    f"host={'h' * 5000} password=S3CRET",
]


@pytest.mark.parametrize("source", SECRETS, ids=lambda source: str(source)[:40])
def test_no_error_shows_a_password(source):
    """The password stays hidden however the address is written, correct or not."""
    pytest.importorskip("psycopg")
    with pytest.raises((sn.ParameterError, SourceError)) as caught:
        query.count(source, "t", row_is_person=True, eps=1)
    assert "S3CRET" not in "".join(traceback.format_exception(caught.value, limit=0))


def test_an_address_of_several_hosts(server, tmp_path):
    """The scheme's letter case does not matter. The ledger names hosts and database, but no password."""
    hosts = server.replace("owner@/postgres?host=", "owner:S3CRET@,/postgres?host=/nowhere,")
    ledger = sn.Ledger(tmp_path / "ledger", budget=10)
    for source in (hosts, server.replace("postgresql:", "Postgresql:")):
        query.count(source, "t", row_is_person=True, eps=1, ledger=ledger)
    names = [row.data for row in ledger.report()]
    assert names == ["postgresql://,/postgres: t", "postgresql:///postgres: t"]
