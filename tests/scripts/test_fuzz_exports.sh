#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus through the readers and writers once.
exec tests/fuzz/fuzz_exports "${srcdir:-.}/tests/fuzz/corpus_exports"
