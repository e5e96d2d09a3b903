"""The server shows a folder to this machine and to nobody else."""

import threading
from urllib.request import urlopen

import pytest
import serve


def test_the_server_listens_on_this_machine_only(tmp_path):
    with serve.server(tmp_path) as running:
        assert running.socket.getsockname()[0] == "127.0.0.1"
        assert serve.address(running) == f"http://127.0.0.1:{running.server_port}"


def test_the_server_shows_the_folder_it_was_given_and_says_nothing(tmp_path, capfd):
    (tmp_path / "page.html").write_text("Здесь", encoding="utf-8")
    with serve.server(tmp_path) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            with urlopen(f"{serve.address(running)}/page.html", timeout=10) as answer:
                assert answer.read().decode("utf-8") == "Здесь"
        finally:
            running.shutdown()
            thread.join()
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_served_is_said_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "BOOK", tmp_path)
    monkeypatch.setattr("sys.argv", ["serve.py", "--port", "99999"])
    with pytest.raises(SystemExit, match="there is no book yet"):
        serve.main()
    (tmp_path / "index.html").touch()
    with pytest.raises(SystemExit, match="cannot serve on port 99999: "):
        serve.main()
