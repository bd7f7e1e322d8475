#!/usr/bin/env python3
"""A preprocessor of mdBook: README.md becomes a page, and links that lead out of docs/ to anything else (raw data,
sources) become the path in the repository, for the site does not have these files."""
import json
import posixpath
import re
import sys
from pathlib import Path

README = "install-and-use.md"
LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def on_the_site(text, folder, page_folder):
    """The text of a page in a folder of the repository, as a page in a folder of the site."""

    def link(found):
        words, target = found.groups()
        file, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, file))
        if path != "README.md" and not path.startswith("docs/"):
            return f"`{path}`" if words.strip("`") in path else f"{words} (`{path}`)"
        # mdBook calls the page of a README.md index
        page = README if path == "README.md" else path.removeprefix("docs/").replace("README.md", "index.md")
        return f"[{words}]({posixpath.relpath(page, page_folder)}{mark}{anchor})"

    return LINK.sub(link, text)


def chapters(items):
    """All chapters, those within others too."""
    for item in items:
        if "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    for chapter in chapters(book["items"]):
        folder = posixpath.dirname(chapter["path"] or "") or "."
        chapter["content"] = on_the_site(chapter["content"], posixpath.join("docs", folder), folder)
    readme = Path(context["root"], "../README.md").read_text()
    book["items"].insert(1, {"Chapter": {
        "name": "Install and use", "content": on_the_site(readme, "", "."), "number": None, "sub_items": [],
        "path": README, "source_path": None, "parent_names": []}})
    json.dump(book, sys.stdout)


main()
