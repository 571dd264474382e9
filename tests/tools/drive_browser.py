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
    return {id: +g.getAttribute('data-i'), title: g.querySelector('title').textContent,
            x: +r.getAttribute('x'), w: +r.getAttribute('width'), y: +r.getAttribute('y'),
            label: t.textContent, hit: g.classList.contains('hit'),
            left: +t.getAttribute('x'), length: t.textContent ? t.getComputedTextLength() : 0}})"""


def name(box):
    return box["title"].rsplit(": ", 1)[0]


def out_of(boxes):
    """Labels that reach out of their boxes."""
    return [b["label"] for b in boxes if b["length"] and b["left"] + b["length"] > b["x"] + b["w"] + 0.5]


def click_box(browser, box):
    browser.run(f"window.scrollTo(0, {box['y']} - 300)")
    browser.click(box["x"] + box["w"] / 2, box["y"] + 8 - browser.run("window.scrollY"))
    return {b["id"]: b for b in browser.run(BOXES)}


def flame(browser, path, word, share):
    browser.open(path)
    first = browser.run(BOXES)
    n_bad = check(f"{len(first)} boxes, labels end in them {out_of(first)}", first and not out_of(first))
    n_bad += check("some labels are written out", any(b["label"] == name(b) != "ROOT" for b in first))

    # Clicks, down to a leaf: the widest box that is not as wide as everything, again and again.
    boxes, box, n_clicks = first, None, 0
    while True:
        below = [b for b in boxes if b["w"] < 1190 and (not box or b["y"] > box["y"])]
        if not below:
            break
        before, box = boxes, max(below, key=lambda b: b["w"])
        begin = time.monotonic()
        now = click_box(browser, box)
        took = time.monotonic() - begin
        n_clicks += 1
        boxes = list(now.values())
        n_bad += check(f"a click on {name(box)} zooms from {box['w']:.1f} px in {took:.2f} s, "
                       f"{len(boxes)} boxes", abs(now[box["id"]]["w"] - 1200) < 0.01)
        n_bad += check("boxes beside it go", not any(
            b["id"] in now for b in before if b["y"] >= box["y"] and b["x"] >= box["x"] + box["w"] + 0.1))
        n_bad += check("callers stay, as wide as all", 0 in now and all(
            b["w"] == 1200 for b in boxes if b["y"] < box["y"]))
        n_bad += check(f"labels end in their boxes {out_of(boxes)}", not out_of(boxes))
    n_bad += check(f"{n_clicks} clicks", n_clicks > 1)
    browser.run("window.scrollTo(0, 0)")
    browser.click(*browser.run("(r => [r.x + r.width / 2, r.y + r.height / 2])"
                               "(document.getElementById('all').getBoundingClientRect())"))
    n_bad += check("show all", browser.run(BOXES) == first)

    # "/" asks for a text.
    browser.answer = word
    browser.key("/")
    found, note = browser.run(BOXES), browser.run("document.getElementById('note').textContent")
    hits = [b for b in found if b["hit"]]
    n_bad += check(f"{len(hits)} boxes with {word} are marked",
                   hits and all((word.lower() in name(b).lower()) == b["hit"] for b in found))
    n_bad += check(f"the share: {note}", note.endswith(f" found, {share} %"))
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
