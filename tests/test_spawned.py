"""Programs that train in processes and threads of their own: recorded, compared and ended as if they trained themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gloo import ended_by_itself
from tests.run_command import CLEAN, FOUND, ending, found, report, run, write
from tests.warm import Ran

SOFTMAX = """\
import multiprocessing
import sys
import threading
import time
import torch
import torch.multiprocessing as mp
from torch import nn


def train(rank, results=None):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(8, 4)), torch.randint(3, (8,)))
        loss.backward()
        optimizer.step()
    print("trained to the end")
    torch.save(model.state_dict(), "model.pt")
    if results is not None:
        results.put(loss.item())


class Trainer(multiprocessing.Process):
    def run(self):
        train(0)


if __name__ == "__main__":
"""
SPAWN = "    mp.spawn(train, nprocs=1)\n"
A_PROCESS = """\
    process = multiprocessing.get_context("{0}").Process(target=train, args=(0,))
    process.start()
    process.join()
"""
A_RESULT = """\
    results = multiprocessing.Queue()
    multiprocessing.Process(target=train, args=(0, results)).start()
    print(results.get())
"""
BESIDE_ANOTHER = """\
    other = multiprocessing.Process(target=time.sleep, args=(600,))
    other.start()
    print(other.pid)
    process = multiprocessing.Process(target=train, args=(0,))
    process.start()
    process.join()
"""
A_CLASS = "    process = Trainer()\n    process.start()\n    process.join()\n"
A_THREAD = "    thread = threading.Thread(target=train, args=(0,))\n    thread.start()\n    thread.join()\n"
AFTERWARDS = '    print("after training")\n    torch.load("model.pt")\n'


@pytest.mark.parametrize(
    "starts",
    [
        pytest.param(SPAWN, id="spawn"),
        pytest.param(A_PROCESS.format("spawn"), id="a process"),
        pytest.param(A_PROCESS.format("fork"), id="a fork"),
        pytest.param(A_CLASS, id="a class"),
        pytest.param(BESIDE_ANOTHER, id="beside another"),
        pytest.param(A_RESULT, id="a result"),
        pytest.param(A_THREAD, id="a thread"),
    ],
)
def test_what_trains_elsewhere_is_recorded(starts: str, tmp_path: Path) -> None:
    write(tmp_path, {"train.py": SOFTMAX + starts + AFTERWARDS})
    ran = run(tmp_path, "train.py")
    assert ran.returncode == FOUND, ran.stderr
    assert found(tmp_path) == [("TL101", 13, "confirmed")]
    assert ending(tmp_path)["how"] == "recorded"
    assert report(tmp_path)["run"]["losses"]
    assert "trained to the end" not in ran.stdout
    assert "after training" not in ran.stdout
    assert not (tmp_path / "model.pt").exists()
    if starts is BESIDE_ANOTHER:
        assert not Path("/proc", ran.stdout.strip()).exists()


def test_processes_that_do_not_train_leave_the_program_alone(tmp_path: Path) -> None:
    """Workers of a loader and of a pool go on, and what the program trains is recorded."""
    loads = """\
    from torch.utils.data import DataLoader, TensorDataset
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print("pooled", pool.map(abs, [-1]))
    helper = multiprocessing.get_context("fork").Process(target=print, args=("helped",))
    helper.start()
    helper.join()
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(32, 4), torch.randint(3, (32,)))
    for x, y in DataLoader(data, batch_size=8, shuffle=True, num_workers=1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
    write(tmp_path, {"train.py": SOFTMAX + loads})
    ran = run(tmp_path, "train.py")
    assert "pooled [1]" in ran.stdout
    assert "helped" in ran.stdout
    assert ending(tmp_path)["how"] == "recorded"
    assert {code for code, _, verdict in found(tmp_path) if verdict != "not-reached"} == set()


def test_a_process_that_fails_is_reported(tmp_path: Path) -> None:
    wrong = SOFTMAX.replace("nn.Linear(4, 3)", "nn.Linear(5, 3)")
    write(tmp_path, {"train.py": wrong + "    mp.spawn(train, nprocs=1)\n"})
    ran = run(tmp_path, "train.py")
    assert "mat1 and mat2 shapes cannot be multiplied" in ran.stderr
    assert ran.returncode != CLEAN


RANKS = """\
import sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, meeting):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{{meeting}}", rank=rank, world_size=2)
    torch.manual_seed({seed})
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    model = {model}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    own = torch.Generator().manual_seed({data})
    for step in range(4):
        x = torch.randn(16, 4, generator=own)
        y = x[:, :3].argmax(1)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy({call}, y)
        loss.backward()
        {after}
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(sys.argv[1],), nprocs=2)
"""
RIGHT = {
    "seed": "0",
    "model": "DistributedDataParallel(net)",
    "data": "rank",
    "call": "model(x)",
    "after": "pass",
}
BY_HAND = {
    "model": "net",
    "after": "[(dist.all_reduce(p.grad), p.grad.div_(2)) for p in net.parameters()]",
}


def ranks(folder: Path, **wrong: str) -> list[tuple[str, int]]:
    """What a run of two ranks has shown, that differs from a right one in this."""
    write(folder, {"train.py": RANKS.format(**{**RIGHT, **wrong})})

    def once() -> Ran:
        meeting = folder / "meeting"
        meeting.unlink(missing_ok=True)
        return run(folder, "train.py", str(meeting))

    ended_by_itself(once)
    assert report(folder)["run"]["rank"] == {"number": 0, "world": 2}
    shown = report(folder)["findings"]
    assert all(one["evidence"]["on ranks"] == [0, 1] for one in shown if one["verdict"] == "observed")
    return [(one["code"], one["line"]) for one in shown if one["verdict"] in ("observed", "confirmed")]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(
            {"call": "(model.module if step % 2 else model)(x)"}, [("TL921", 13)], id="past the wrapper"
        ),
        pytest.param({"data": "0"}, [("TL520", 21)], id="the same batches"),
        pytest.param({"seed": "rank", **BY_HAND}, [("TL921", 13)], id="other weights at the start"),
        pytest.param(BY_HAND, [], id="averaged by hand"),
    ],
)
def test_ranks_are_compared(wrong: dict[str, str], said: list[tuple[str, int]], tmp_path: Path) -> None:
    assert ranks(tmp_path, **wrong) == said
