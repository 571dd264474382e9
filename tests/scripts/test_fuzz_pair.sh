#!/bin/sh
# SPDX-License-Identifier: MIT
# Each pair of profiles of the corpus merged and compared once.
exec tests/fuzz/fuzz_pair "${srcdir:-.}/tests/fuzz/corpus_pair"
