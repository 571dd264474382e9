#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pictures in a browser, as a person would, and looks at what they do.
Usage: drive_browser.py CHROMIUM flame SVG SEARCH SHARE | drive_browser.py CHROMIUM screen SVG..."""
import os
import sys
import time

from browser import check, drive

# A box: what it is called, where it stands, and how far its label reaches.
BOXES = """[].map.call(document.querySelectorAll('g.b'), g => {
    const r = g.querySelector('rect'), t = g.querySelector('text');
    return {shown: g.style.display != 'none', name: g.getAttribute('data-n'),
            depth: +g.getAttribute('data-d'), x: +r.getAttribute('x'), w: +r.getAttribute('width'),
            y: +r.getAttribute('y'), label: t.textContent, hit: r.style.stroke != '',
            left: +t.getAttribute('x'), length: t.textContent ? t.getComputedTextLength() : 0}})"""


def inside(boxes):
    return [b for b in boxes if b["shown"] and b["length"] and b["left"] + b["length"] > b["x"] + b["w"] + 0.5]


def same(a, b):
    return all(x["shown"] == y["shown"] and abs(x["x"] - y["x"]) < 0.02 and abs(x["w"] - y["w"]) < 0.02
               for x, y in zip(a, b))


def flame(browser, path, word, share):
    browser.open(path)
    first = browser.run(BOXES)
    n_bad = check(f"{len(first)} boxes, labels end in their boxes {inside(first)[:2]}", not inside(first))
    n_bad += check("some labels are written out", any(b["label"] == b["name"] != "ROOT" for b in first))

    # A click on the widest box below the root that is not as wide as everything.
    box = max((b for b in first if b["depth"] and b["w"] < 1190), key=lambda b: b["w"])
    begin = time.monotonic()
    browser.run(f"window.scrollTo(0, {box['y']} - 300)")
    browser.click(box["x"] + box["w"] / 2, box["y"] + 8 - browser.run("window.scrollY"))
    zoomed = browser.run(BOXES)
    took = time.monotonic() - begin
    now = next(b for b, old in zip(zoomed, first) if old is box)
    n_bad += check(f"a click zooms: {box['w']:.0f} to {now['w']:.0f} px", abs(now["w"] - 1200) < 0.1)
    n_bad += check("boxes beside it go", not any(
        b["shown"] and old["depth"] >= box["depth"] and old["x"] >= box["x"] + box["w"] + 0.1
        for b, old in zip(zoomed, first)))
    n_bad += check("its callers stay", zoomed[0]["shown"] and zoomed[0]["w"] == 1200)
    n_bad += check(f"zoomed labels end in their boxes {inside(zoomed)[:2]}", not inside(zoomed))
    n_bad += check(f"in {took:.1f} s", took < 20)
    browser.run("window.scrollTo(0, 0)")
    where = browser.run("(r => [r.x + r.width / 2, r.y + r.height / 2])"
                        "(document.getElementById('all').getBoundingClientRect())")
    browser.click(*where)
    n_bad += check("show all", same(first, browser.run(BOXES)))

    # "/" asks for a text.
    browser.answer = word
    browser.key("/")
    found, note = browser.run(BOXES), browser.run("document.getElementById('note').textContent")
    hits = [b for b in found if b["hit"]]
    n_bad += check(f"{len(hits)} boxes with {word} are marked",
                   hits and all((word.lower() in b["name"].lower()) == b["hit"] for b in found))
    n_bad += check(f"the share: {note}", note == f"{len(hits)} found, {share} %")
    browser.key("Escape")
    n_bad += check("Escape ends the search", not any(b["hit"] for b in browser.run(BOXES)) and
                   browser.run("document.getElementById('note').textContent") == "")
    return n_bad + check(f"no errors {browser.errors}", not browser.errors)


def screen(browser, paths):
    n_bad = 0
    for path in paths:
        browser.open(path)
        over = browser.run("""(() => { const svg = document.documentElement.getBoundingClientRect();
            return [].filter.call(document.querySelectorAll('text'), t => {
                const r = t.getBoundingClientRect();
                return r.right > svg.right + 1 || r.bottom > svg.bottom + 1; }).length })()""")
        fonts = browser.run("getComputedStyle(document.querySelector('text')).fontFamily")
        n_bad += check(f"{os.path.basename(path)}: {over} texts reach out of the picture", over == 0)
        n_bad += check(f"a font of equal widths: {fonts}", "mono" in fonts)
    return n_bad + check(f"no errors {browser.errors}", not browser.errors)


drive(sys.argv[1], lambda browser: flame(browser, *sys.argv[3:6]) if sys.argv[2] == "flame"
      else screen(browser, sys.argv[3:]))
