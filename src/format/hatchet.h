/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_H
#define PROTON_FORMAT_HATCHET_H
/* Hatchet JSON in the shape of Triton's Proton; docs/formats.md has the rules.
 * The writer needs libc, base and core only (libhatchetw.la): the collector links it. */
#include "format/format.h"

bool hatchet_detect(const char *head, size_t n);
int hatchet_read(struct reader_input *in, struct session *s, struct format_error *error);
int hatchet_write(const struct session *s, const struct write_options *options, struct out *out);

#endif
