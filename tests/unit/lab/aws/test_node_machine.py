from pathlib import Path

from gpuprov.lab.aws.images import Layers
from gpuprov.lab.aws.node_machine import kept_machine_id, listens

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def row(address: str, state: str) -> str:
    return f"   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n"


def test_a_listening_port_22_is_seen_in_the_tables_of_sockets(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    assert not listens(table), "a node that is going has no table"
    for text, found in (
        (HEAD, False),
        (HEAD + row("00000000:0016", "0A"), True),
        (HEAD + row("00000000000000000000000000000000:0016", "0A"), True),
        (HEAD + row("0100007F:0016", "01"), False),
        (HEAD + row("00000000:1600", "0A"), False),
    ):
        table.write_text(text)
        assert listens(table) is found


def layers(*disk: Path) -> Layers:
    return Layers(disk=disk)


def test_an_image_keeps_the_machine_id_that_is_on_its_disk(tmp_path: Path) -> None:
    base, image, newer = (tmp_path / name for name in ("base", "image", "newer"))
    for folder in (base, image, newer):
        (folder / "etc").mkdir(parents=True)
    (base / "etc" / "machine-id").write_text("base\n")
    assert kept_machine_id(layers(base)) == {}, "the vendor's image has none of its own"
    assert kept_machine_id(layers(image, base)) == {}
    (image / "etc" / "machine-id").write_text("one\n")
    assert kept_machine_id(layers(image, base)) == {"/etc/machine-id": (b"one\n", 0o444)}
    (newer / "etc" / "machine-id").write_text("")
    assert kept_machine_id(layers(newer, image, base)) == {"/etc/machine-id": (b"", 0o444)}
