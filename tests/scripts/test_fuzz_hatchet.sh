#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus, and upstream's own files, through the fuzz target once.
exec tests/fuzz/fuzz_hatchet "${srcdir:-.}/tests/fuzz/corpus_hatchet" "${srcdir:-.}/tests/hatchet"
