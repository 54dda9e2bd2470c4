import os
from pathlib import Path

import pytest
from ansible.module_utils.gpuprov_root import AptRoot

SOURCE = {
    "path": "/etc/apt/sources.list.d/gpuprov-nvidia.sources",
    "text": "Types: deb\nSigned-By: /etc/apt/keyrings/gpuprov-nvidia.asc\n",
    "key_path": "/etc/apt/keyrings/gpuprov-nvidia.asc",
    "key_text": "KEY\n",
}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    etc, lists = tmp_path / "etc", tmp_path / "lists"
    for name in ("sources.list.d", "preferences.d"):
        (etc / name).mkdir(parents=True)
    lists.mkdir()
    (etc / "sources.list").write_text("deb http://os.example x main\n")
    (etc / "sources.list.d" / "site.list").write_text("deb http://site.example x main\n")
    (etc / "sources.list.d" / "gpuprov-old.sources").write_text("old\n")
    (etc / "preferences.d" / "gpuprov.pref").write_text("old pins\n")
    (etc / "preferences.d" / "site").write_text("site pins\n")
    for name in ("os.example_InRelease", "os.example_main_Packages"):
        (lists / name).write_text("host\n")
    return tmp_path


def root_of(host: Path) -> AptRoot:
    return AptRoot(root=host / "root" / "apt", host_etc=host / "etc", host_lists=host / "lists")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def test_the_host_s_sources_stay_and_ours_are_the_wanted_ones(host: Path) -> None:
    root = root_of(host)
    root.write([SOURCE], "new pins\n")
    assert names(root.root / "sources.list.d") == {"site.list", "gpuprov-nvidia.sources"}
    assert names(root.root / "ours.d") == {"gpuprov-nvidia.sources"}
    assert (root.root / "preferences.d" / "gpuprov.pref").read_text() == "new pins\n"
    assert (root.root / "preferences.d" / "site").read_text() == "site pins\n"
    assert (root.root / "sources.list").read_text() == "deb http://os.example x main\n"


def test_our_source_names_the_key_that_lies_beside_it(host: Path) -> None:
    root = root_of(host)
    root.write([SOURCE], "")
    text = (root.root / "sources.list.d" / "gpuprov-nvidia.sources").read_text()
    key = Path(text.split("Signed-By: ")[1].strip())
    assert key.read_text() == "KEY\n"
    assert key.is_relative_to(root.root)


def test_a_source_of_the_os_keeps_the_keyring_of_the_os(host: Path) -> None:
    text = "Types: deb\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    root = root_of(host)
    root.write([{**SOURCE, "text": text, "key_path": "", "key_text": ""}], "")
    assert (root.root / "sources.list.d" / "gpuprov-nvidia.sources").read_text() == text
    assert names(root.root / "keyrings") == set()


def test_the_host_is_not_touched(host: Path) -> None:
    before = {
        path: path.read_bytes() for folder in ("etc", "lists") for path in (host / folder).rglob("*") if path.is_file()
    }
    root = root_of(host)
    root.write([SOURCE], "pins\n")
    (root.root / "lists" / "os.example_main_Packages").unlink()
    root.write([], "")
    after = {
        path: path.read_bytes() for folder in ("etc", "lists") for path in (host / folder).rglob("*") if path.is_file()
    }
    assert after == before


def test_lists_of_the_host_are_used_while_they_are_newer(host: Path) -> None:
    root = root_of(host)
    root.write([], "")
    lists = root.root / "lists"
    assert (lists / "os.example_main_Packages").read_text() == "host\n"
    # apt-get update in the private root replaces the links by files of its own.
    for name in ("os.example_InRelease", "os.example_main_Packages"):
        (lists / name).unlink()
        (lists / name).write_text("ours, newer\n")
    os.utime(host / "lists" / "os.example_InRelease", (1, 1))
    root.write([], "")
    assert (lists / "os.example_main_Packages").read_text() == "ours, newer\n"
    later = (lists / "os.example_InRelease").stat().st_mtime + 10
    os.utime(host / "lists" / "os.example_InRelease", (later, later))
    root.write([], "")
    assert (lists / "os.example_main_Packages").read_text() == "host\n"


def test_a_link_whose_list_is_gone_is_dropped(host: Path) -> None:
    root = root_of(host)
    root.write([], "")
    for path in list((host / "lists").iterdir()):
        path.unlink()
    root.write([], "")
    assert names(root.root / "lists") == set()
    assert not [path for path in (root.root / "lists").iterdir() if path.is_symlink()]


def test_a_look_works_in_a_folder_of_its_own_which_goes_with_it(host: Path) -> None:
    kept = root_of(host)
    kept.write([SOURCE], "")
    (kept.root / "lists" / "ours_InRelease").write_text("ours\n")
    (kept.root / "cache" / "archives" / "a_1_all.deb").write_text("12345")
    before = {path: path.stat().st_mtime_ns for path in host.rglob("*")}
    look = root_of(host)
    with look.aside():
        look.write([SOURCE], "other pins\n")
        assert look.root != kept.root
        assert (look.root / "lists" / "ours_InRelease").read_text() == "ours\n"
        assert (look.root / "lists" / "os.example_InRelease").read_text() == "host\n"
        assert look.has_archive("a_1_all.deb", 5)
    assert {path: path.stat().st_mtime_ns for path in host.rglob("*") if path != host / "root"} == {
        path: when for path, when in before.items() if path != host / "root"
    }


def test_a_host_that_was_only_looked_at_has_no_folder_of_ours(host: Path) -> None:
    look = root_of(host)
    with look.aside():
        look.write([], "")
    assert not (host / "root").exists()


def test_what_a_killed_look_left_goes_with_the_next_one(host: Path) -> None:
    old, young = host / "root" / "look-old", host / "root" / "look-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    with root_of(host).aside():
        pass
    assert (old.exists(), young.exists()) == (False, True)
