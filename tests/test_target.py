"""Which torch a project is for: its setting, or its own list of dependencies."""

from __future__ import annotations

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
        ("requirements.txt", "torchvision==0.1\ntorch-geometric==1.0", NEWEST, NEWEST),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"torch>=2.1,<2.5; python_version>'3'\"]",
            (2, 1),
            (2, 4),
        ),
        ("pyproject.toml", '[project.optional-dependencies]\ntrain = ["torch~=2.2"]', (2, 2), NEWEST),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {version = "^1.13"}', (1, 13), NEWEST),
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
        ("environment.yml", "dependencies:\n  - pytorch\n  - pytorch-cuda=11.8", NEWEST, NEWEST),
    ],
)
def test_dependencies(project: Project, name: str, text: str, oldest: Version, newest: Version) -> None:
    root = project({name: text, "src/train.py": ""})
    found = target_near(root / "src")
    assert found.oldest == oldest
    assert found.newest[: len(newest)] == newest


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
