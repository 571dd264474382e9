#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus through the readers and writers of single scopes once.
exec tests/fuzz/fuzz_warps "${srcdir:-.}/tests/fuzz/corpus_warps"
