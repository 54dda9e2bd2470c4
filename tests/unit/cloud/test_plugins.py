import socket
from pathlib import Path

import pytest

from gpuprov.cloud.engine import Engine
from gpuprov.cloud.plugins import attached_port, ensure_plugin, find_plugin, plugin_version
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress


def program(path: Path, says: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def place(folder: Path, **environment: str) -> StackPlace:
    whole = {"HOME": str(folder), "PATH": str(folder / "bin"), **environment}
    return StackPlace(name="train", folder=folder, environment=whole, region="us-east-1")


def engine(folder: Path, says: str = "exit 0") -> Engine:
    return Engine(path=program(folder / "engine" / "pulumi", says), version="3.274.1", origin="PATH")


@pytest.mark.parametrize(
    "where",
    [
        f".pulumi/plugins/resource-aws-v{plugin_version()}/pulumi-resource-aws",
        "bin/pulumi-resource-aws",
        "engine/pulumi-resource-aws",
    ],
)
def test_the_plugin_is_found_where_the_engine_looks(tmp_path: Path, where: str) -> None:
    one = engine(tmp_path, "exit 9")
    environment = place(tmp_path).environment
    assert find_plugin(plugin_version(), one.path, environment) is None
    program(tmp_path / where)
    assert find_plugin(plugin_version(), one.path, environment) == str(tmp_path / where)
    ensure_plugin(one, place(tmp_path), ignore_progress)


def test_another_version_is_not_the_plugin(tmp_path: Path) -> None:
    program(tmp_path / ".pulumi/plugins/resource-aws-v6.0.0/pulumi-resource-aws")
    assert find_plugin("7.51.1", engine(tmp_path).path, place(tmp_path).environment) is None


def test_a_missing_one_is_asked_of_the_engine_once_and_its_words_are_told(tmp_path: Path) -> None:
    says = f'echo "$@" >> {tmp_path}/asked; echo "error: no such host" >&2; exit 1'
    with pytest.raises(GpuprovError) as error:
        ensure_plugin(engine(tmp_path, says), place(tmp_path), ignore_progress)
    (found,) = error.value.diagnostics
    assert found.code == "GP-CLOUD-002"
    assert "no such host" in found.detail
    assert (tmp_path / "asked").read_text().split()[:5] == [
        "plugin",
        "install",
        "resource",
        "aws",
        f"v{plugin_version()}",
    ]


def test_where_downloads_are_forbidden_nothing_is_asked(tmp_path: Path) -> None:
    one = engine(tmp_path, f"touch {tmp_path}/asked")
    there = place(tmp_path, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION="true")
    with pytest.raises(GpuprovError) as error:
        ensure_plugin(one, there, ignore_progress)
    assert error.value.diagnostics[0].code == "GP-CLOUD-002"
    assert not (tmp_path / "asked").exists()


def test_an_attached_plugin_must_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        there = place(tmp_path, PULUMI_DEBUG_PROVIDERS=f"random:1,aws:{port}")
        ensure_plugin(engine(tmp_path, "exit 9"), there, ignore_progress)
    with pytest.raises(GpuprovError) as error:
        ensure_plugin(engine(tmp_path, "exit 9"), there, ignore_progress)
    (found,) = error.value.diagnostics
    assert found.code == "GP-CLOUD-002"
    assert str(port) in found.summary


@pytest.mark.parametrize(
    ("text", "port"), [("aws:5", 5), ("random:1, aws:22", 22), ("myaws:5", None), ("", None), ("aws", None)]
)
def test_the_attached_port(text: str, port: int | None) -> None:
    assert attached_port({"PULUMI_DEBUG_PROVIDERS": text}) == port
