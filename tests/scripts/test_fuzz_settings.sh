#!/bin/sh
# SPDX-License-Identifier: MIT
# Each input of the corpus as a file of settings once.
exec tests/fuzz/fuzz_settings "${srcdir:-.}/tests/fuzz/corpus_settings"
