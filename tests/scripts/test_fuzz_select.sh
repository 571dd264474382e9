#!/bin/sh
# SPDX-License-Identifier: MIT
# Each text of the corpus as a selector once.
exec tests/fuzz/fuzz_select "${srcdir:-.}/tests/fuzz/corpus_select"
