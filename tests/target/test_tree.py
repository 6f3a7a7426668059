"""The parts of the watch: trees, control groups, folders and streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.target import cgroup, tree
from cunctator.target.folder import empty_folder, make_folder, remove_folder
from cunctator.target.output import Stream
from tests.target.hostility import wait_until

SLEEP = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(1000)"]

THREADED = """
import os, threading, time
def start():
    process = os.fork()
    while process == 0:
        time.sleep(1000)
    found.append(process)
    time.sleep(1000)
found = []
threading.Thread(target=start, daemon=True).start()
while not found:
    time.sleep(0.001)
threading.Thread(target=start, daemon=True).start()
while len(found) < 2:
    time.sleep(0.001)
print(*found, flush=True)
time.sleep(1000)
"""
"""Each thread has a child of its own."""

MOUNTS = [
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755",
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd",
    r"41 31 0:38 /user /mnt/a\040b rw,relatime shared:1 - cgroup2 cgroup2 rw",
    "42 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
]


@pytest.mark.parametrize("lists", [True, False])
def test_descendants_are_found_either_way(monkeypatch, lists):
    if lists and not tree.LISTS_CHILDREN:
        pytest.skip("this kernel does not list children")
    monkeypatch.setattr(tree, "LISTS_CHILDREN", lists)
    with subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", THREADED], stdout=subprocess.PIPE
    ) as child:
        grandchildren = {int(word) for word in child.stdout.readline().split()}
        assert len(grandchildren) == 2
        found = dict(tree.descendants())
        assert {child.pid} | grandchildren <= found.keys()
        assert int(found[child.pid][tree.PARENT]) == os.getpid()
        assert list(found).index(child.pid) < min(map(list(found).index, grandchildren))
        tree.freeze_and_kill(lambda: {child.pid} | grandchildren)
    assert child.returncode == -signal.SIGKILL
    wait_until(lambda: not any(map(is_alive, grandchildren)))


def is_alive(process: int) -> bool:
    fields = tree.status_fields(process)
    return bool(fields) and fields[0] != b"Z"


def test_clock_of_another_process():
    script = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert 0.1 <= tree.process_clock(child.pid) < 0.2
        child.communicate(b"\n")
    with pytest.raises(OSError):
        tree.process_clock(child.pid)


def test_gone_processes_are_no_trouble():
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    assert tree.status_fields(child.pid) == []
    assert tree.children_listed(child.pid, 1) == tree.children_listed(child.pid, 2) == []
    tree.send([child.pid], signal.SIGTERM)


@pytest.mark.parametrize("method", ["cgroup", "processes"])
def test_what_came_before_the_target_is_not_charged(tmp_path, method):
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    watched = cgroup.GroupTree(tmp_path) if method == "cgroup" else tree.ProcessTree()
    watched.discount(-0.25)
    used = watched.final_cpu()
    watched.discount(0.75)
    assert watched.final_cpu() == pytest.approx(used - 0.75, abs=0.1)


@pytest.mark.parametrize(
    ("own", "folder"),
    [
        ("/", "/sys/fs/cgroup/unified"),
        ("/a/b", "/sys/fs/cgroup/unified/a/b"),
        ("/user", "/mnt/a b"),
        ("/user/x", "/mnt/a b/x"),
        ("/username", "/sys/fs/cgroup/unified/username"),
    ],
)
def test_own_group_is_found_among_mounts(own, folder):
    assert cgroup.folder_of(own, MOUNTS) == Path(folder)


def test_no_group_without_cgroup2():
    assert cgroup.folder_of("/", MOUNTS[:2]) is None


def test_group_that_cannot_be_entered_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroup, "own_folder", lambda: tmp_path)
    assert cgroup.enter_group("new") is None
    assert cgroup.enter_group("no/such") is None
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(cgroup, "own_folder", lambda: None)
    assert cgroup.enter_group("new") is None


def test_group_is_entered_and_left():
    script = (
        "import sys; from cunctator.target import cgroup; before = cgroup.own_folder()\n"
        "folder = cgroup.enter_group(sys.argv[1])\n"
        "if folder is None: sys.exit(77)\n"
        "assert cgroup.own_folder() == folder == before / sys.argv[1]\n"
        "cgroup.leave_group(folder)\n"
        "assert cgroup.own_folder() == before and not folder.exists()\n"
    )
    name = f"cunctator-test-{os.getpid()}"
    code = subprocess.run([sys.executable, "-c", script, name], check=False).returncode
    if code == 77:
        pytest.skip("no control group can be made here")
    assert code == 0


def test_killing_a_group_from_outside():
    above = cgroup.own_folder()
    folder = Path("/") if above is None else above / f"cunctator-test-{os.getpid()}"
    try:
        inner = folder / "made by the target"
        inner.mkdir(parents=True)
    except OSError:
        pytest.skip("no control group can be made here")
    child = subprocess.Popen(SLEEP)
    (inner / "cgroup.procs").write_text(str(child.pid))
    cgroup.kill_group(folder, 20.0)
    assert child.wait() == -signal.SIGKILL
    assert not folder.exists()


@pytest.mark.slow
def test_depth_of_a_folder_does_not_matter(tmp_path):
    top = tmp_path / "top"
    make_folder(top)
    before = Path.cwd()
    os.chdir(top)
    try:
        for _ in range(2500):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.chdir(before)
    remove_folder(top)
    assert not top.exists()


def test_emptying_a_wide_folder(tmp_path):
    for number in range(30):
        (tmp_path / f"{number}" / "a" / "b").mkdir(parents=True)
        (tmp_path / f"{number}" / "a" / "file").touch()
        (tmp_path / f"{number}" / "link").symlink_to("/")
    empty_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_removing_what_is_not_there(tmp_path):
    remove_folder(tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


@given(limit=st.integers(0, 40), chunks=st.lists(st.binary(min_size=1, max_size=30)))
def test_first_and_last_part_are_kept(limit, chunks):
    reading, writing = os.pipe()
    stream = Stream(reading, limit)
    for chunk in chunks:
        os.write(writing, chunk)
        assert stream.read()
    assert not stream.read() and stream.is_open
    os.close(writing)
    assert not stream.read() and not stream.is_open
    everything = b"".join(chunks)
    if len(everything) <= limit:
        assert stream.kept == everything and stream.left_out == 0
    else:
        last = limit // 2
        first = limit - last
        assert stream.kept == everything[:first] + everything[len(everything) - last :]
        assert stream.left_out == len(everything) - limit


def test_stream_keeps_little():
    reading, writing = os.pipe()
    stream = Stream(reading, 100)
    begun = time.process_time()
    for _ in range(1000):
        os.write(writing, b"x" * 60000)
        stream.read()
    assert stream.left_out == 60_000_000 - 100
    assert len(stream._first) + len(stream._last) < 300_000
    assert time.process_time() - begun < 10
    os.close(writing)
    stream.close()
