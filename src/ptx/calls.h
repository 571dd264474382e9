/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_CALLS_H
#define PROTON_PTX_CALLS_H
/* Which functions of its module a kernel calls: they are not probed. Where records go, and how many there are, is in registers of the
 * kernel, which they have not; and they may be called by kernels whose records lie elsewhere.
 *   threads  one */
#include "base/buf.h"
#include "ptx/text.h"

struct ptx_calls {
	const struct ptx_text *text;
	uint32_t *by_name; /* functions with a body that are no kernels */
	uint32_t *seen;    /* by function: 1 + the last kernel that was found to call it */
	size_t n;
};

/* 0 or -ENOMEM. ptx_calls_done() frees it whatever is returned. */
int ptx_calls_init(struct ptx_calls *calls, const struct ptx_text *text);
void ptx_calls_done(struct ptx_calls *calls);
/* "f, g": those that a kernel, which is a function of the text, calls by name, each once; long lists are cut. Returns how many. */
unsigned ptx_calls_put(struct ptx_calls *calls, const struct ptx_function *kernel, struct buf *to);

#endif
