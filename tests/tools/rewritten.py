#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What "proton rewrite" answered, from its standard output: kernels, kept or made, bytes of the image, then the text. The image goes to
a file that is named."""
import struct
import sys

data = sys.stdin.buffer.read()
if len(data) < 24:
    sys.exit("no answer")
magic, n_text, n_image, kernels, kept = struct.unpack("<IIQII", data[:24])
if magic != 0x31575250 or len(data) != 24 + n_text + n_image:
    sys.exit("no whole answer")
print("%d %s %s" % (kernels, "kept" if kept else "made", "an image" if n_image else "none"))
sys.stdout.write(data[24 : 24 + n_text].decode())
if len(sys.argv) > 1:
    open(sys.argv[1], "wb").write(data[24 + n_text :])
