#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus, and the recorded tapes, through the fuzz target once.
exec tests/fuzz/fuzz_wire "${srcdir:-.}/tests/fuzz/corpus_wire" "${srcdir:-.}"/tests/wire/*.tape
