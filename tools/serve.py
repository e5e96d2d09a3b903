"""Serve the built book on this machine only and open it in the browser."""

import argparse
import functools
import sys
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def server(folder, port=0):
    """A server of the folder on 127.0.0.1; port 0 takes a free one."""
    return ThreadingHTTPServer(
        ("127.0.0.1", port), functools.partial(QuietHandler, directory=str(folder))
    )


def address(running):
    return f"http://127.0.0.1:{running.server_address[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    if not (BOOK / "index.html").exists():
        sys.exit("there is no book yet; build it with `make book`")
    try:
        running = server(BOOK, port)
    except (OSError, OverflowError) as failure:
        sys.exit(f"cannot serve on port {port}: {failure}; choose another with PORT=8001")
    with running:
        print(f"The book is at {address(running)}; Ctrl-C ends the server.", flush=True)
        webbrowser.open(address(running))
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
