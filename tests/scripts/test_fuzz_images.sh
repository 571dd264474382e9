#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file of the corpus, and the samples of the tests, once.
exec tests/fuzz/fuzz_images "${srcdir:-.}/tests/fuzz/corpus_images" "${srcdir:-.}/tests/images" "${srcdir:-.}/tests/cubins"
