#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file of the corpus, and the cubins of the tests, once.
exec tests/fuzz/fuzz_cubin "${srcdir:-.}/tests/fuzz/corpus_cubin" "${srcdir:-.}/tests/cubins"
