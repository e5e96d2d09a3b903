"""Serve MathJax from the book itself and drop the scripts that would need the network."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"


def add_static_files(app):
    app.config.html_static_path.append(str(STATIC))


def is_thebe(script):
    filename = str(getattr(script, "filename", script) or "")
    body = getattr(script, "attributes", {}).get("body") or ""
    return "thebe" in filename.lower() or "THEBE_JS_URL" in body


def keep_local_scripts(app, pagename, templatename, context, doctree):
    scripts = context.get("script_files", [])
    context["script_files"] = [
        script
        for place, script in enumerate(scripts)
        if not is_thebe(script) and script not in scripts[:place]
    ]


def setup(app):
    app.connect("builder-inited", add_static_files)
    app.connect("html-page-context", keep_local_scripts, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
