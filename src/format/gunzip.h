/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_GUNZIP_H
#define PROTON_FORMAT_GUNZIP_H
/* Unpacks gzip between an input and a reader, which need not know of it. */
#include "format/reader.h"

/* False when built without zlib. */
bool gunzip_detect(const char *head, size_t n);
/* Give what `in` has to `plain`, unpacked where it is packed. Returns what that does, or a negative errno with *error set:
 * something was wrong with the packed bytes. */
int gunzip_through(struct reader_input *in,
		   int (*plain)(struct reader_input *in, void *ctx, struct format_error *error),
		   void *ctx, struct format_error *error);

#endif
