#!/bin/sh
# SPDX-License-Identifier: MIT
# Each listing of the corpus as a database through the readers once.
exec tests/fuzz/fuzz_db "${srcdir:-.}/tests/fuzz/corpus_db"
