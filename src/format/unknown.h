/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_UNKNOWN_H
#define PROTON_FORMAT_UNKNOWN_H
/* Files that no reader takes: says what they are, as far as that can be told, and what is read. */
#include "format/reader.h"

/* What begins so: a pickle, a zip archive, …; NULL: that is not known. */
const char *unknown_beginning(const char *head, size_t n);
/* 0: JSON of some kind, or nothing at all. Else -EBADMSG, with *error set. */
int unknown_refuse(const char *head, size_t n, struct format_error *error);

#endif
