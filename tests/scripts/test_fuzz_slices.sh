#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file of the corpus once.
exec tests/fuzz/fuzz_slices "${srcdir:-.}/tests/fuzz/corpus_slices"
