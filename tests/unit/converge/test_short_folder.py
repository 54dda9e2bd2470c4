import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from gpuprov.converge.short_folder import short_folder

HOLD = (
    "import sys, time; from pathlib import Path; from gpuprov.converge.short_folder import short_folder\n"
    "with short_folder(Path(sys.argv[1])) as folder:\n"
    "    (folder / 'passwords.yml').write_text('x'); print(folder, flush=True); time.sleep(60)"
)


def test_the_folder_is_private_and_ends_with_its_use(tmp_path: Path) -> None:
    with short_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "x").touch()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_deleted_and_what_a_live_one_uses_stays(tmp_path: Path) -> None:
    foreign = tmp_path / "gpuprov-file"
    foreign.touch()
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    an_hour_ago = time.time() - 3600
    os.utime(folder, (an_hour_ago, an_hour_ago))
    with short_folder(tmp_path):
        assert (folder / "passwords.yml").exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert (folder / "passwords.yml").exists()
    with short_folder(tmp_path):
        assert not folder.exists()
    assert list(tmp_path.iterdir()) == [foreign]
