#!/bin/bash
# The site: mdBook makes it of docs/, all links inside it lead somewhere, and in a browser no page is empty or wider
# than the screen, of a desktop and of a telephone. KEEP=FOLDER keeps pictures of the pages.
source "$(dirname "$0")/../e2e/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
command -v mdbook > /dev/null || skip "no mdBook (scripts/setup.sh site installs it)"
cd "$WORK"

build() {
    mdbook build "$ROOT/site" -d "$WORK/site" > mdbook.log 2>&1 || { cat mdbook.log >&2; fail "mdBook fails"; }
    ! grep -E 'WARN|ERROR' mdbook.log || fail "mdBook complains"
    [ -s site/tutorial.html ] && [ -s site/install-and-use.html ] || fail "pages are missing: $(ls site)"
}

links() {
    python3 - << 'END' || fail "links of the site"
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

class Page(HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)

root = Path("site").resolve()
# the page for addresses that do not exist may be shown in any folder: its links are absolute
pages = {file: Page(file) for file in root.rglob("*.html") if file.name != "404.html"}
wrong, inside = [], 0
for file, page in pages.items():
    for link in page.links:
        address = urlsplit(link)
        if address.scheme or address.netloc:
            continue
        target = (file.parent / unquote(address.path)).resolve() if address.path else file
        inside += 1
        if not target.exists():
            wrong.append(f"{file.name}: {link}: no such file")
        elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].ids:
            wrong.append(f"{file.name}: {link}: no such place")
print("\n".join(wrong) or f"{len(pages)} pages, {inside} links inside")
raise SystemExit(bool(wrong))
END
}

# As in tests/e2e/95-report.sh: without a screen it hangs now and then; then it is started again.
chromium_() {
    local try rc
    for try in 1 2 3; do
        rc=0
        timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
            --allow-file-access-from-files --user-data-dir="$WORK/profile.$try" "$@" 2> chromium.txt || rc=$?
        [ $rc = 124 ] || [ $rc = 137 ] || break
    done
    [ $rc = 0 ] || { cat chromium.txt >&2; fail "chromium $*"; }
}

# pictures PAGE: the top of it, in both widths
pictures() {
    local width
    mkdir -p "$KEEP"
    for width in 1280 390; do
        echo "<body style='margin:0'><iframe src='site/$1.html' style='border:0;width:${width}px;height:1600px'>" \
            > frame.html
        chromium_ --window-size=$((width < 500 ? 500 : width)),1600 --screenshot="$KEEP/$1-$width.png" \
            "file://$WORK/frame.html"
    done
}

# Every page in a frame of each width, for Chromium's window is never narrower than 500 pixels
browser() {
    command -v chromium > /dev/null || skip "no Chromium (scripts/setup.sh site installs it)"
    local pages page
    pages=$(cd site && ls ./*.html | grep -vE '/(404|toc)\.html$')
    cat > frames.html << END
<body><script>
const pages = "$(echo $pages)".split(" "), found = [];
let open = 0;
for (const name of pages) for (const width of [1280, 390]) {
    const frame = document.createElement("iframe");
    frame.style = "border:0;height:1600px;width:" + width + "px";
    frame.onload = () => {
        const page = frame.contentDocument, main = page.querySelector("main");
        // what scrolls sideways: the page, or the part of it that has the text
        for (const box of [page.documentElement, page.querySelector(".content"), main])
            if (box && box.scrollWidth > box.clientWidth + 1)
                found.push(name + ": " + box.tagName + " is " + box.scrollWidth + " wide at " + width);
        if (!main || main.innerText.length < 300) found.push(name + " is empty at " + width);
        if (--open == 0) document.title = found.length ? "WRONG " + found.join("; ") : "ALL FIT";
    };
    open++;
    frame.src = "site/" + name;
    document.body.append(frame);
}
</script>
END
    chromium_ --virtual-time-budget=30000 --dump-dom "file://$WORK/frames.html" > dom.txt
    grep -q '<title>ALL FIT</title>' dom.txt || fail "pages: $(grep -o '<title>.*</title>' dom.txt)"
    [ -z "${KEEP-}" ] || for page in $pages; do pictures "$(basename "$page" .html)"; done
}

for part in build links browser; do
    [[ $part =~ ${PART-} ]] || continue
    $part
    echo "$part: as it should be"
done
