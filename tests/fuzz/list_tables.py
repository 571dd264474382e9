#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A database as the listing that fuzz_db takes. Usage: list_tables.py DATABASE [ROWS-PER-TABLE]"""
import sqlite3
import sys


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bytes):
        return "x'" + value.hex()
    return str(value).replace("|", "/").replace("\n", " ")


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    db.text_factory = lambda text: text.decode(errors="replace")
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    tables = [t for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        cursor = db.execute(f'SELECT * FROM "{table}" LIMIT ?', (rows,))
        print("@" + "|".join([table] + [column[0] for column in cursor.description]))
        for row in cursor:
            print("|".join(map(cell, row)))


main()
