/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_MSGPACK_H
#define PROTON_FORMAT_MSGPACK_H
/* Hatchet in MessagePack: a reader and a writer apart. docs/formats.md has the rules. */
#include "format/format.h"

bool msgpack_detect(const char *head, size_t n);
int msgpack_read(struct reader_input *in, struct session *s, struct format_error *error);
int msgpack_write(const struct session *s, const struct write_options *options, struct out *out);

#endif
