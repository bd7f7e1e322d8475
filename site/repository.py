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


def on_the_site(text, folder):
    """Of a page in a folder of the repository, as a page of the site."""

    def link(found):
        words, target = found.groups()
        file, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, file))
        if path == "README.md":
            return f"[{words}]({README}{mark}{anchor})"
        if path.startswith("docs/"):
            # mdBook calls the page of a README.md index
            page = path.removeprefix("docs/").replace("README.md", "index.md")
            return f"[{words}]({page}{mark}{anchor})"
        return f"`{path}`" if words.strip("`") in path else f"{words} (`{path}`)"

    return LINK.sub(link, text)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    for item in book["items"]:
        if "Chapter" in item:
            item["Chapter"]["content"] = on_the_site(item["Chapter"]["content"], "docs")
    readme = Path(context["root"], "../README.md").read_text()
    book["items"].insert(1, {"Chapter": {
        "name": "Install and use", "content": on_the_site(readme, ""), "number": None, "sub_items": [],
        "path": README, "source_path": None, "parent_names": []}})
    json.dump(book, sys.stdout)


main()
