"""Which torch a project is for: its setting, or its own list of dependencies."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from trainlint.check.analysis import Source, analyse
from trainlint.errors import UsageError
from trainlint.finding import Finding, Place, Version, Versions
from trainlint.project.config import find_config
from trainlint.project.target import NEWEST, Target, target_near, version

if TYPE_CHECKING:
    from tests.conftest import Project


@pytest.mark.parametrize(
    ("name", "text", "oldest", "newest"),
    [
        ("requirements.txt", "numpy\ntorch>=1.8.0  # see the site\ntorchvision>=0.9", (1, 8, 0), NEWEST),
        ("requirements.txt", "torch==2.4.1+cu121", (2, 4, 1), (2, 4, 1)),
        ("requirements.txt", "torch", NEWEST, NEWEST),
        ("requirement.txt", "torch==1.5", (1, 5), (1, 5)),
        (
            "requirements.txt",
            "https://a.org/cu113/torch-1.10.0%2Bcu113-cp39-cp39-linux_x86_64.whl",
            (1, 10, 0),
            (1, 10, 0),
        ),
        (
            "requirements.txt",
            "torch @ https://a.org/torch-2.1.0+cpu-cp39-cp39-linux_x86_64.whl ; x",
            (2, 1, 0),
            (2, 1, 0),
        ),
        ("requirements.txt", "https://a.org/torch-1.10.0/torchvision-0.11.0-cp39.whl", NEWEST, NEWEST),
        ("requirements.txt", "https://a.org/pytorch-1.10.0-cp39.whl", NEWEST, NEWEST),
        (
            "setup.py",
            'setup(install_requires=["torch@https://a.org/torch-1.10.0%2Bcu113-cp39.whl"])',
            (1, 10, 0),
            (1, 10, 0),
        ),
        ("setup.py", 'URL = "see https://a.org/torch-1.10.0-cp39.whl"', NEWEST, NEWEST),
        ("requirements.txt", "torchvision==0.1\ntorch-geometric==1.0", NEWEST, NEWEST),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"torch>=2.1,<2.5; python_version>'3'\"]",
            (2, 1),
            (2, 4),
        ),
        ("pyproject.toml", '[project.optional-dependencies]\ntrain = ["torch~=2.2"]', (2, 2), NEWEST),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntorch = {version = "^1.13"}',
            (1, 13),
            (1, sys.maxsize),
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "~1.7"', (1, 7), (1, 7, sys.maxsize)),
        ("requirements.txt", "torch~=1.7.1", (1, 7, 1), (1, 7, sys.maxsize)),
        ("requirements.txt", "torch~=1.13.1+cu117", (1, 13, 1), (1, 13, sys.maxsize)),
        ("requirements.txt", "torch>=2.0.0rc1", (2, 0, 0), NEWEST),
        ("requirements.txt", "torch~=1.7", (1, 7), (1, sys.maxsize)),
        ("pyproject.toml", "not TOML", NEWEST, NEWEST),
        ("requirements.txt", "# platform: linux-64\npytorch=1.7.0=py3.6_cuda110_0", (1, 7, 0), (1, 7, 0)),
        ("requirements.txt", "pytorch-cpu=0.4.0=py35_cpu_1\npytorch-metric=1.0", (0, 4, 0), (0, 4, 0)),
        ("setup.py", 'setup(install_requires=["numpy", "torch >= 1.7, < 2"])', (1, 7), (1,)),
        ("setup.py", 'NEEDS = """\nnumpy\ntorch==1.9.*\n"""', (1, 9), (1, 9)),
        ("setup.py", 'setup(keywords=["torch", "torch 1.7"])', NEWEST, NEWEST),
        ("setup.py", "not Python", NEWEST, NEWEST),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch>=1.12", (1, 12), NEWEST),
        ("setup.cfg", "[isort]\nknown_third_party = torch\n", NEWEST, NEWEST),
        ("environment.yml", "dependencies:\n  - pytorch=1.7.1=py3.8_cuda", (1, 7, 1), (1, 7, 1)),
        ("environment.yaml", "dependencies:\n  - pip:\n    - torch>=2.1  # or later", (2, 1), NEWEST),
        ("environment.yml", 'dependencies:\n  - "conda-forge::pytorch>=1.12,<2.1"', (1, 12), (2, 0)),
        ("requirements.yml", "name: a\ndependencies:\n  - pytorch::pytorch=0.4.1", (0, 4, 1), (0, 4, 1)),
        ("skin.yaml", "channels:\n  - a\ndependencies:  # conda\n  - pytorch=1.2", (1, 2), (1, 2)),
        ("compose.yml", "channels:\n  - a\nservices:\n  - pytorch=1.2", NEWEST, NEWEST),
        ("environment.yml", "dependencies:\n  - pytorch\n  - pytorch-cuda=11.8", NEWEST, NEWEST),
        (
            "environment_gpu.yml",
            "channels:\n  - pytorch\ndependencies:\n  - pytorch=1.6.0",
            (1, 6, 0),
            (1, 6, 0),
        ),
        ("conda_env.yaml", "dependencies:\n  - pytorch=1.12", (1, 12), (1, 12)),
        ("model.yml", "dependencies:\n  - pytorch=1.6.0", NEWEST, NEWEST),
        ("constraints.txt", "torch==2.1.0", (2, 1, 0), (2, 1, 0)),
        ("requirements-dev.txt", "torch>=1.10", (1, 10), NEWEST),
        ("requirements/train.txt", "torch==1.9.1", (1, 9, 1), (1, 9, 1)),
        ("Dockerfile", "FROM pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime\n", (1, 13, 1), (1, 13, 1)),
        ("docker/Dockerfile.gpu", "FROM nvcr.io/nvidia/pytorch:21.10-py3 AS base", (1, 10), (1, 10)),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:17.04", NEWEST, NEWEST),
        ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:21.10-py3", NEWEST, NEWEST),
        (
            "Dockerfile",
            'ARG PYTORCH="1.6.0"\nARG CUDA=10.1\nFROM pytorch/pytorch:${PYTORCH}-cuda${CUDA}-devel',
            (1, 6, 0),
            (1, 6, 0),
        ),
        ("Dockerfile", "FROM python:3.8\nRUN pip install \\\n  torch==1.7.1+cu110", (1, 7, 1), (1, 7, 1)),
        ("Dockerfile", "FROM pytorch/pytorch:latest", NEWEST, NEWEST),
        ("Dockerfile", "# FROM pytorch/pytorch:1.2", NEWEST, NEWEST),
        ("README.md", "```\npip install torch==1.8.0 torchvision==0.9.0\n```", (1, 8, 0), (1, 8, 0)),
        ("README.md", "conda install pytorch=1.4 cudatoolkit -c pytorch", (1, 4), (1, 4)),
        ("README.md", "Needs:\n- `torch==1.2.0`\n- numpy", (1, 2, 0), (1, 2, 0)),
        ("README.md", "Needs:\n- torch=1.7\n- numpy", (1, 7), (1, 7)),
        ("README.md", "pip install torch-scatter==2.0 # for pytorch 1.9", NEWEST, NEWEST),
        ("README.md", "PyTorch 1.9 was slower.", NEWEST, NEWEST),
        (
            "README.md",
            "- Python 3.6\n* PyTorch 0.3.0 - see [here](https://pytorch.org)",
            (0, 3, 0),
            (0, 3, 0),
        ),
        ("README.md", "1. [PyTorch](https://pytorch.org) version 1.5 or higher", (1, 5), NEWEST),
        ("README.md", "- **PyTorch** (>= 1.7)", (1, 7), NEWEST),
        ("README.md", "- PyTorch 1.13 introduced this.\n- PyTorch Lightning 1.5", NEWEST, NEWEST),
        (
            ".github/workflows/test.yml",
            "matrix:\n  torch-version: ['1.13.1', '2.4']  # and 1.2",
            (1, 13, 1),
            (2, 4),
        ),
        (".github/workflows/test.yml", "run: pip install torch~=2.3.0", (2, 3, 0), (2, 3, sys.maxsize)),
        (".github/workflows/test.yml", "  python-version: ['3.8']", NEWEST, NEWEST),
    ],
)
def test_dependencies(project: Project, name: str, text: str, oldest: Version, newest: Version) -> None:
    root = project({name: text, "src/train.py": ""})
    found = target_near(root / "src")
    assert found.oldest == oldest
    assert found.newest[: len(newest)] == newest


def test_a_list_of_dependencies_decides_over_instructions(project: Project) -> None:
    root = project({"requirements.txt": "torch==2.2", "Dockerfile": "FROM pytorch/pytorch:1.13"})
    assert target_near(root) == Target((2, 2), (2, 2))


def test_instructions_name_the_version_that_a_list_leaves_open(project: Project) -> None:
    root = project({"requirements.txt": "numpy\ntorch\n", "Dockerfile": "FROM pytorch/pytorch:1.13"})
    assert target_near(root) == Target((1, 13), (1, 13))


def test_a_list_without_a_version_is_for_its_own_folder(project: Project) -> None:
    root = project({"Dockerfile": "FROM pytorch/pytorch:1.13", "new/requirements.txt": "torch"})
    assert target_near(root / "new") == Target()
    assert target_near(root / "old") == Target((1, 13), (1, 13))


def test_of_several_images_the_oldest_and_the_newest_count(project: Project) -> None:
    root = project({"Dockerfile": "FROM pytorch/pytorch:1.13", "b.Dockerfile": "FROM pytorch/pytorch:2.2"})
    assert target_near(root) == Target((1, 13), (2, 2))


def test_what_is_no_plain_file_is_not_read(project: Project) -> None:
    root = project({"src/train.py": ""})
    os.mkfifo(root / "requirements.txt")
    os.mkfifo(root / "Dockerfile")
    assert target_near(root) == Target()


def test_the_setting_decides_over_the_dependencies(project: Project) -> None:
    root = project(
        {"pyproject.toml": '[project]\ndependencies = ["torch>=1.8"]\n[tool.trainlint]\ntarget-torch = "2.4"'}
    )
    assert find_config(root).target(root) == Target((2, 4), NEWEST)


@pytest.mark.parametrize("text", ["2.x", "2.", ">=2.4", "2.4.*", "newest", ""])
def test_what_is_no_version_is_refused(project: Project, text: str) -> None:
    root = project({"trainlint.toml": f'target-torch = "{text}"'})
    with pytest.raises(UsageError, match="`target-torch` must be"):
        find_config(root)


@pytest.mark.parametrize("text", ["2.4", "2.4.0+cu121", "2.4.0.dev20250801", "2.4.0a0+git1a2b"])
def test_what_torch_calls_itself_is_a_version(text: str) -> None:
    assert version(text)[:2] == (2, 4)


@pytest.mark.parametrize(
    ("versions", "oldest", "newest", "concerned"),
    [
        (None, (1, 0), (1, 0), True),
        (Versions(since=(1, 9)), (1, 8), NEWEST, False),
        (Versions(since=(1, 9)), (1, 9), NEWEST, True),
        (Versions(since=(1, 13), before=(2, 6)), (2, 4, 1), (2, 4, 1), True),
        (Versions(since=(1, 13), before=(2, 6)), (2, 6), NEWEST, False),
        (Versions(since=(2, 2), gone=(2, 7)), (1, 8), NEWEST, True),
        (Versions(since=(2, 2), gone=(2, 7)), (1, 8), (2, 0), False),
    ],
)
def test_what_concerns_a_project(
    versions: Versions | None, oldest: Version, newest: Version, *, concerned: bool
) -> None:
    finding = Finding(Place("a.py", 1, 1, 1, 2), "it is", torch=versions)
    assert Target(oldest, newest).concerns(finding) is concerned


def test_a_folder_of_a_collection_has_dependencies_of_its_own(project: Project) -> None:
    old = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
    files = {"new/train.py": old, "detection/models/train.py": old}
    root = project(
        {"requirements.txt": "torch>=2.4\n", "detection/requirements.txt": "torch==1.7.1\n", **files}
    )
    found = analyse([Source(path) for path in files], concerns=find_config(root).concerns()).findings
    assert [(one.code, one.at.path) for one in found] == [("TL401", "new/train.py")]


def test_what_is_kept_serves_another_target(project: Project) -> None:
    root = project(
        {
            "train.py": "import torch\nfrom torch import nn\n\nx, y = torch.meshgrid(a, b)\n"
            "nn.functional.mse_loss(nn.Linear(1, 1)(x), y).backward()\n"
        }
    )
    cache = root / "kept"
    for oldest, count in (((2, 0), 1), ((1, 7), 0), ((2, 0), 1)):
        found = analyse(
            [Source("train.py")], cache_dir=cache, concerns=Target(oldest, NEWEST).concerns
        ).findings
        assert sum(one.code == "TL806" for one in found) == count


_OLD_WAYS = """import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

body = nn.utils.weight_norm(nn.Linear(8, 16))
scaler = torch.cuda.amp.GradScaler()
checkpoint(body, torch.load(sys.argv[1]).requires_grad_()).sum().backward()
"""


@pytest.mark.parametrize(
    ("pinned", "codes"),
    [
        ("1.10.2", []),
        ("1.12.1", ["TL216"]),
        ("2.0.1", ["TL216", "TL913"]),
        ("2.1.0", ["TL216", "TL806", "TL913"]),
        ("2.13.0", ["TL216", "TL401", "TL806"]),
    ],
)
def test_advice_is_given_where_the_version_can_follow_it(
    project: Project, pinned: str, codes: list[str]
) -> None:
    root = project({"requirements.txt": f"torch=={pinned}\n", "train.py": _OLD_WAYS})
    found = analyse([Source("train.py")], concerns=find_config(root).concerns()).findings
    assert sorted(one.code for one in found if one.level != "info") == codes


@pytest.mark.parametrize(
    ("files", "concerned"),
    [
        ({"requirements.txt": "torch>=2.1"}, False),
        ({"requirements.txt": "torch>=2.1,<2.6"}, True),
        ({"requirements.txt": "torch>=2.1,<=2.6"}, False),
        ({"requirements.txt": "torch==2.1"}, True),
        ({"environment.yml": "dependencies:\n  - pip:\n    - torch>=2.1"}, False),
        ({"pyproject.toml": '[project]\ndependencies = ["torch>=2.1"]'}, True),
        ({"setup.py": 'setup(install_requires=["torch>=2.1"])'}, True),
        ({"trainlint.toml": 'target-torch = "2.1"', "requirements.txt": "torch>=2.1"}, True),
    ],
)
def test_a_list_for_pip_without_an_upper_bound_installs_the_newest(
    project: Project, files: dict[str, str], *, concerned: bool
) -> None:
    root = project({**files, "train.py": _OLD_WAYS})
    found = analyse([Source("train.py")], concerns=find_config(root).concerns()).findings
    assert ("TL913" in [one.code for one in found if one.level != "info"]) is concerned


@pytest.mark.parametrize(
    ("needed", "concerned"), [("torch==0.4.0", False), ("torch>=0.4", True), ("torch", True)]
)
def test_the_order_of_schedules_is_that_of_torch_1_1(
    project: Project, needed: str, *, concerned: bool
) -> None:
    steps = """\
import torch
from torch import nn

net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for _ in range(9):
    scheduler.step()
    for _ in range(5):
        optimizer.zero_grad()
        net(torch.ones(1, 4)).sum().backward()
        optimizer.step()
"""
    root = project({"requirements.txt": f"{needed}\n", "train.py": steps})
    found = analyse([Source("train.py")], concerns=find_config(root).concerns()).findings
    assert ("TL304" in {one.code for one in found}) is concerned
