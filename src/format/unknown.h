/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_UNKNOWN_H
#define PROTON_FORMAT_UNKNOWN_H
/* Files that no reader takes: says what they are, as far as that can be told, and what is read. */
#include "format/reader.h"

/* 0: JSON of some kind, or nothing at all. Else -EBADMSG, with *error set. */
int unknown_refuse(const char *head, size_t n, struct format_error *error);

#endif
