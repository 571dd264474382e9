#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus, and the traces of other tests, through the readers once.
exec tests/fuzz/fuzz_import "${srcdir:-.}/tests/fuzz/corpus_import" "${srcdir:-.}/tests/chrome"
