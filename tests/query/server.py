"""A PostgreSQL server for these tests: Debian's programs, a socket in a new directory, and a user other than root."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

_PACKAGED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)


def program(name):
    """Return the path of a PostgreSQL program, or None."""
    return shutil.which(name, path=os.pathsep.join([*map(str, _PACKAGED), os.environ.get("PATH", "")]))


class Server:
    """A running server; call `missing` first to learn whether one can run here."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="stairnoise-pg-"))
        self._user = None
        if os.geteuid() == 0:
            self._user = "postgres" if _has_user("postgres") else "nobody"
            shutil.chown(self.directory, self._user)
        data = self.directory / "data"
        self._run("initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = f"-k {self.directory} -c listen_addresses='' -c fsync=off -c max_connections=20 -c shared_buffers=16MB"
        self._run("pg_ctl", "-D", data, "-o", options, "-l", self.directory / "log", "-w", "start")
        self.url = f"postgresql://owner@/postgres?host={self.directory}"

    def _run(self, name, *arguments):
        subprocess.run(
            [program(name), *map(str, arguments)],
            check=True,
            user=self._user,
            cwd=self.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )

    def stop(self):
        """Stop the server and remove its files."""
        try:
            self._run("pg_ctl", "-D", self.directory / "data", "-m", "immediate", "stop")
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


def missing():
    """Return why no server can run here, or None."""
    if any(program(name) is None for name in ("initdb", "pg_ctl")):
        return "no server of PostgreSQL: apt-get install postgresql"
    return None


def _has_user(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
