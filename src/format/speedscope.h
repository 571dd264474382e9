/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_SPEEDSCOPE_H
#define PROTON_FORMAT_SPEEDSCOPE_H
/* Files of speedscope.app: a reader beside its writer. docs/formats.md has the rules. */
#include "format/format.h"

bool speedscope_detect(const char *head, size_t n);
int speedscope_read(struct reader_input *in, struct session *s, struct format_error *error);

#endif
