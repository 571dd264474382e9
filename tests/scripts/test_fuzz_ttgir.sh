#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file of the corpus, and the kernels of the tests, once.
exec tests/fuzz/fuzz_ttgir "${srcdir:-.}/tests/fuzz/corpus_ttgir" "${srcdir:-.}/tests/ttgir"
