/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_GUNZIP_H
#define PROTON_FORMAT_GUNZIP_H
/* Unpacks gzip between an input and a reader, which need not know of it. */
#include "format/reader.h"

struct gunzip;

/* False when built without zlib. */
bool gunzip_detect(const char *head, size_t n);
/* Reads from in, which is borrowed. NULL: no memory. */
struct gunzip *gunzip_new(struct reader_input *in);
struct gunzip *gunzip_free(struct gunzip *g);
/* The input that has the unpacked bytes. */
void gunzip_init_reader(struct gunzip *g, struct reader_input *unpacked);
/* 0, or, where something was wrong with the packed bytes, a negative errno with *error set. */
int gunzip_failed(const struct gunzip *g, struct format_error *error);

#endif
