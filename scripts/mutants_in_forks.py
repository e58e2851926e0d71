"""Try the mutants of a cosmic-ray session in forks; cosmic-ray tries those that no test notices.

`python -m scripts.mutants_in_forks SESSION CONFIG` imports and collects the tests of CONFIG once. Each mutant is a fork in which
the functions and constants of the live module are exchanged. The tests that run the mutant's lines run there, the quickest first,
until one fails. Noticed mutants get their result in the session. The others stay pending: importing a mutant may have other
effects, so `cosmic-ray exec` tries them in new processes.
"""

import argparse
import json
import os
import resource
import shlex
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
import tomllib
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult

# Processor seconds for a mutant.
PATIENCE = 60


class Forks:
    """A plugin that replaces pytest's loop over the tests."""

    def __init__(self, session: str, modules: list[str]) -> None:
        self.session = session
        self.modules = {str(Path(path).resolve()) for path in modules}
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise pytest.UsageError("a file of tests cannot be collected")
        # The tests run in a fork, so that no state of theirs stays, such as cached mechanisms.
        measured = forked(lambda: self.measured(session.items))
        if measured is None or self.failed:
            raise pytest.UsageError("a test fails without a mutant")
        with use_db(self.session, WorkDB.Mode.open) as database:
            for work in sorted(database.pending_work_items, key=lambda work: place(work.mutations[0])):
                (mutation,) = work.mutations
                begin = time.monotonic()
                by = forked(lambda m=mutation: self.tried(m, session.items, measured))
                if by is None:
                    by = "hangs or ends the process"
                if by:
                    result = WorkResult(output=by, worker_outcome=WorkerOutcome.NORMAL, test_outcome=TestOutcome.KILLED)
                    database.set_result(work.job_id, result)
                outcome = "noticed" if by else "left"
                print(f"{outcome:7} {time.monotonic() - begin:5.1f} s  {named(mutation)}  {by}", file=sys.__stderr__, flush=True)
        return True

    def measured(self, items: list[pytest.Item]) -> list[tuple[float, list[str]]]:
        """Return the seconds of each test, and the lines of the modules that it runs."""
        result = []
        for item, after in zip(items, [*items[1:], None], strict=True):
            lines: set[str] = set()
            sys.settrace(lambda frame, _event, _arg, lines=lines: self.traced(frame, lines))
            begin = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            sys.settrace(None)
            result.append((time.process_time() - begin, sorted(lines)))
            if self.failed:
                raise SystemExit(f"{self.failed} fails without a mutant")
        return result

    def traced(self, frame: FrameType, lines: set[str]) -> Any:
        if frame.f_code.co_filename not in self.modules:
            return None

        def line(frame: FrameType, _event: str, _arg: object) -> Any:
            lines.add(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            return line

        return line(frame, "", None)

    def tried(self, mutation: MutationSpec, items: list[pytest.Item], measured: list[tuple[float, list[str]]]) -> str:
        """Return the test that fails, or ""."""
        path = Path(mutation.module_path).resolve()
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        text = mutate_code(path.read_text(encoding="utf-8"), operator, mutation.occurrence)
        try:
            exchange(next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(path)), text)
        except Exception as error:  # importing a mutant may raise anything
            return f"import: {error!r}"
        lines = {f"{path}:{line}" for line in range(mutation.start_pos[0], mutation.end_pos[0] + 1)}
        order = sorted(range(len(items)), key=lambda number: measured[number][0])
        reaching = [items[number] for number in order if lines.intersection(measured[number][1])] or [items[n] for n in order]
        for item, after in zip(reaching, [*reaching[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return self.failed
        return ""


def forked(work: Callable[[], Any]) -> Any:
    """Return a function's result from a child of this process; None if it raises, dies or hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        os.close(reading)
        try:
            with os.fdopen(writing, "w", encoding="utf-8") as file:
                json.dump(work(), file)
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        answer = file.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def exchange(module: ModuleType, text: str) -> None:
    """Give a module's functions and constants the bodies, defaults and values of another version of its source."""
    fresh = ModuleType(module.__name__)
    fresh.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    code: CodeType = compile(text, str(module.__file__), "exec")
    exec(code, fresh.__dict__)
    for name, new in list(vars(fresh).items()):
        old = vars(module).get(name)
        if name.startswith("__") or old is new:
            continue
        if hasattr(old, "cache_clear"):
            old.cache_clear()
        old, new = getattr(old, "__wrapped__", old), getattr(new, "__wrapped__", new)
        if isinstance(new, FunctionType) and isinstance(old, FunctionType):
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
        elif isinstance(new, (int, float, str, tuple, frozenset)) and new != old:
            for other in [m for n, m in sys.modules.items() if n.partition(".")[0] == "stairnoise"]:
                if vars(other).get(name) is old:
                    setattr(other, name, new)


def place(mutation: MutationSpec) -> tuple[str, tuple[int, int], str, int]:
    return str(mutation.module_path), mutation.start_pos, mutation.operator_name, mutation.occurrence


def named(mutation: MutationSpec) -> str:
    return f"{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name} {mutation.occurrence}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("session")
    parser.add_argument("config")
    given = parser.parse_args()
    config = tomllib.loads(Path(given.config).read_text(encoding="utf-8"))["cosmic-ray"]
    arguments = shlex.split(config["test-command"])
    tests = arguments[arguments.index("pytest") + 1 :]
    # Hide pytest's line for every test.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(pytest.main(tests, plugins=[Forks(given.session, config["module-path"])]))


if __name__ == "__main__":
    main()
