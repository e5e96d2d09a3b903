"""Serve MathJax from the book itself, drop what would need the network or leads nowhere, and say
on a page with formulas that they need JavaScript."""

from pathlib import Path
from urllib.parse import urlsplit

STATIC = Path(__file__).parent / "static"
WITHOUT_SCRIPTS = (
    "<noscript><p>The formulas of this page need JavaScript; without it they are shown as they "
    "are written in TeX.</p></noscript>"
)


def add_static_files(app):
    app.config.html_static_path.append(str(STATIC))


def hide_launch_buttons_without_address(app, config):
    """Binder and Colab can only open a book whose repository address is a real one."""
    options = config.html_theme_options
    if urlsplit(options.get("repository_url", "")).hostname == "example.org":
        options["launch_buttons"] = {}


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


def say_what_needs_scripts(app, pagename, templatename, context, doctree):
    if 'class="math ' in context.get("body", ""):
        context["body"] = WITHOUT_SCRIPTS + context["body"]


def setup(app):
    app.connect("config-inited", hide_launch_buttons_without_address)
    app.connect("builder-inited", add_static_files)
    app.connect("html-page-context", keep_local_scripts, priority=900)
    app.connect("html-page-context", say_what_needs_scripts, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
