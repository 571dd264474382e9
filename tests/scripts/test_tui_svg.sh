#!/bin/sh
# SPDX-License-Identifier: MIT
# Printed screens are XML: each golden picture through a parser that is not ours.
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 - "${srcdir:-.}/tests/golden"/*.svg <<'END'
import sys
import xml.etree.ElementTree as tree

svg = "{http://www.w3.org/2000/svg}"
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    assert root.tag == svg + "svg", path
    width, height = float(root.get("width")), float(root.get("height"))
    classes = root.find(svg + "style").text
    for e in root.iter():
        if e.tag not in (svg + "rect", svg + "text"):
            continue
        assert float(e.get("x", 0)) + float(e.get("width", e.get("textLength"))) <= width + 1, path
        assert float(e.get("y", 0)) <= height, path
        for name in e.get("class").split():
            assert "." + name + " {" in classes, (path, name)
    print(path, len(list(root.iter(svg + "text"))), "texts")
END
