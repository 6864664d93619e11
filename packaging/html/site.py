#!/usr/bin/python3
"""Makes the pages of man/, the Markdown of the top folder, docs/, fleet/, packaging/ and tests/
into a site:

usage: site.py DIRECTORY           makes the site in DIRECTORY, and removes what was there
       site.py --check DIRECTORY   prints each broken link of the site in DIRECTORY

Markdown becomes HTML by cmark-gfm, manual pages by mandoc. If a page links to another file or
folder of the source tree, this is shown as text below source/."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
MENU = (("README.md", "upgrader"), ("docs/README.md", "docs"), ("man/upgrader.8", "upgrader(8)"),
        ("man/agent-protocol.7", "agent-protocol(7)"), ("ARCHITECTURE.md", "architecture"))
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}style.css">
</head>
<body>
<nav>{menu}</nav>
<main class="{kind}">
{body}
</main>
</body>
</html>
"""


def run(*words, text=None):
    return subprocess.run(words, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def pages():
    """Returns the paths, in the source tree, of the files that become pages."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("man/*.[1378]"),
             *ROOT.glob("fleet/*.md"), *ROOT.glob("packaging/*.md"), *ROOT.glob("tests/*.md"),
             *ROOT.glob("agent-protocol/*/README.md")]
    return sorted(str(file.relative_to(ROOT)) for file in found)


def place_of(path):
    """Returns the path in the site for a page of the source tree."""
    if path == "README.md":
        return "index.html"
    return (path if path.startswith("man/") else path.removesuffix(".md")) + ".html"


class Site:
    def __init__(self, directory):
        self.directory, self.pages, self.shown = pathlib.Path(directory), set(pages()), set()

    def write(self, place, title, kind, body):
        up = "../" * place.count("/")
        menu = " ".join(f'<a href="{up}{place_of(path)}">{name}</a>' for path, name in MENU)
        file = self.directory / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.format(title=html.escape(title), up=up, menu=menu, kind=kind,
                                    body=body))

    def place_of_target(self, path):
        """Returns the path in the site for a path of the source tree. If that path has no file in
        the site yet, makes the file."""
        if path in self.pages:
            return place_of(path)
        file = ROOT / path
        if file.suffix == ".svg":
            target = self.directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            return path
        if file.is_dir():
            if f"{path}/README.md" in self.pages:
                return place_of(f"{path}/README.md")
            return self.show_folder(path)
        return self.show_file(path) if file.is_file() else None

    def show_file(self, path):
        place = f"source/{path}.html"
        if path not in self.shown:
            self.shown.add(path)
            text = (ROOT / path).read_text(errors="replace")
            self.write(place, path, "source",
                       f"<h1>{path}</h1>\n<pre>{html.escape(text)}</pre>")
        return place

    def show_folder(self, path):
        place = f"source/{path}/index.html"
        if path not in self.shown:
            self.shown.add(path)
            items = []
            for file in sorted((ROOT / path).iterdir()):
                inside = str(file.relative_to(ROOT))
                target = self.place_of_target(inside)
                items.append(f'<li><a href="{os.path.relpath(target, os.path.dirname(place))}">'
                             f"{html.escape(file.name)}</a></li>")
            self.write(place, path, "source", f"<h1>{path}/</h1>\n<ul>{''.join(items)}</ul>")
        return place

    def link(self, path, target):
        """Returns the target that a link on the page `path` has in the site."""
        if re.match(r"[a-z]+:|#", target):
            return target
        inside, mark, fragment = target.partition("#")
        inside = os.path.normpath(os.path.join(os.path.dirname(path), inside))
        place = self.place_of_target(inside)
        if place is None:
            return target
        return os.path.relpath(place, os.path.dirname(place_of(path)) or ".") + mark + fragment

    def markdown(self, path):
        body = run("cmark-gfm", "-e", "table", "-e", "autolink", text=(ROOT / path).read_text())
        body = body.replace("<!-- raw HTML omitted -->\n", "")
        body = re.sub(r'(href|src)="([^"]*)"',
                      lambda found: f'{found[1]}="{self.link(path, found[2])}"', body)
        body = re.sub(r"<(h[1-6])>(.*?)</\1>", with_name, body)
        body = re.sub(r"<code>([^<\n]{1,24})</code>", r'<code class="short">\1</code>', body)
        # Long lines of a log are wrapped like sentences. The lines of other code stay as they are.
        body = re.sub(r"<pre>(<code>[^<]*\nupgrader: )", r'<pre class="log">\1', body)
        body = body.replace("<table>", '<div class="wide"><table>')
        body = body.replace("</table>", "</table></div>")
        title = re.search(r"^# (.*)", (ROOT / path).read_text(), re.MULTILINE)
        self.write(place_of(path), title[1] if title else path, "markdown", body)

    def manual(self, path):
        body = run("mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(ROOT / path))
        # Links to manual pages of other projects become plain text, since those pages are not part
        # of the site.
        body = re.sub(r'<a class="Xr" href="([^"]*)\.html">(.*?)</a>',
                      lambda found: found[0] if "man/" + found[1] in self.pages else found[2],
                      body, flags=re.DOTALL)
        name, section = path.removeprefix("man/").rsplit(".", 1)
        self.write(place_of(path), f"{name}({section})", "manual", body)

    def make(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        shutil.copyfile(HERE / "style.css", self.directory / "style.css")
        for path in sorted(self.pages):
            (self.manual if path.startswith("man/") else self.markdown)(path)


def with_name(found):
    """Gives a heading the id that GitHub gives it, for links into the page."""
    words = html.unescape(re.sub(r"<[^>]*>", "", found[2])).lower()
    name = re.sub(r"[^\w -]", "", words).replace(" ", "-")
    return f'<{found[1]} id="{name}">{found[2]}</{found[1]}>'


class Links:
    """Collects the links of a page, and the ids of its elements."""

    def __init__(self, text):
        self.links, self.names = [], set()
        for tag in re.findall(r"<[a-z][^>]*>", text):
            for name, value in re.findall(r'\s(href|src|id)="([^"]*)"', tag):
                if name == "id":
                    self.names.add(html.unescape(value))
                else:
                    self.links.append(html.unescape(value))


def dead_links(directory):
    """Prints a line `PAGE: LINK` for each link whose file does not exist in the site, or whose id
    does not exist in its page."""
    read = {file: Links(file.read_text()) for file in pathlib.Path(directory).rglob("*.html")}
    for file, page in sorted(read.items()):
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            inside, _, fragment = link.partition("#")
            target = pathlib.Path(os.path.normpath(file.parent / inside)) if inside else file
            there = target.is_file()
            if there and fragment and target in read:
                there = fragment in read[target].names
            if not there:
                yield f"{file.relative_to(directory)}: leads nowhere: {link}"
    if not read:
        yield f"{directory}: no page"


def main(words):
    if len(words) == 2 and words[0] == "--check":
        dead = list(dead_links(words[1]))
        print("\n".join(dead), end="\n" if dead else "")
        return 1 if dead else 0
    if len(words) != 1:
        sys.exit("usage: site.py [--check] DIRECTORY")
    Site(words[0]).make()
    print(f"{words[0]}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
