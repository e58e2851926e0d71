"""The description of the machine in a self-test's report."""

from stairnoise._selftest import report


def test_processor_of_the_kernels_list(monkeypatch, tmp_path):
    monkeypatch.setattr(report.sys, "platform", "linux")
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(report, "Path", lambda name: path)
    path.write_text("processor\t: 0\nmodel name\t: A Processor: 3 GHz\n")
    assert report.cpu() == "A Processor: 3 GHz"
    path.write_text("processor\t: 0\nBogoMIPS\t: 50.00\n")
    assert report.cpu() == (report.platform.processor() or report.platform.machine())
    path.unlink()
    assert report.cpu()


def test_processor_of_a_mac(monkeypatch):
    monkeypatch.setattr(report.sys, "platform", "darwin")
    done = report.subprocess.CompletedProcess([], 0, "Apple M9\n", "")
    monkeypatch.setattr(report.subprocess, "run", lambda *a, **k: done)
    assert report.cpu() == "Apple M9"

    def absent(*a, **k):
        raise FileNotFoundError

    monkeypatch.setattr(report.subprocess, "run", absent)
    assert report.cpu()


def test_the_processor_of_another_system(monkeypatch):
    monkeypatch.setattr(report.sys, "platform", "win32")
    assert report.cpu() == (report.platform.processor() or report.platform.machine())


def test_processors_where_no_process_is_bound_to_some(monkeypatch):
    monkeypatch.delattr(report.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(report.os, "cpu_count", lambda: 6)
    assert report.processors() == 6
    monkeypatch.setattr(report.os, "cpu_count", lambda: None)
    assert report.processors() == 1
