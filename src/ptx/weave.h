/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_WEAVE_H
#define PROTON_PTX_WEAVE_H
/* Where the points of a plan are in the text of a kernel, and what stands there then.
 *
 * A record on an edge stands behind the block that falls through, before the branch where all that leaves the block has it,
 * behind the label where all that leads there has it, and else on a way round that the branch takes, at the kernel's end.
 *   threads  one */
#include "ptx/anchors.h"
#include "ptx/recorder.h"

/* Text that is put in, in place of `cut` bytes. */
struct ptx_stitch {
	size_t at, cut;
	uint32_t order;      /* among those at one place */
	size_t text, n_text; /* of ptx_weave::text */
};

struct ptx_weave {
	struct ptx_stitch *stitch;
	size_t n, cap;
	struct buf text;
};

/* scopes: by scope of the plan, what it is known by. Adds to *weave; 0 or -ENOMEM. */
int ptx_weave_kernel(struct ptx_weave *weave, const struct ptx_flow *flow,
		     const struct ptx_function *f, const struct ptx_plan *plan,
		     const struct ptx_recorder *r, const uint32_t *scopes);
/* The whole text. 0 or -ENOMEM. */
int ptx_weave_write(struct ptx_weave *weave, const struct ptx_text *text, struct buf *to);
void ptx_weave_done(struct ptx_weave *weave);

#endif
