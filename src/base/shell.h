/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_SHELL_H
#define PROTON_BASE_SHELL_H
/* Words as shells of POSIX read them.
 *   thread  any */
#include "base/buf.h"

/* 'one word', whatever it holds. */
void shell_put_quoted(struct buf *out, const char *word);

#endif
