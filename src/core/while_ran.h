/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_WHILE_RAN_H
#define PROTON_CORE_WHILE_RAN_H
/* What of unified memory moved, or was missed by a device, while kernels ran there, from a trace:
 *
 *   stream 7       ──[    gemm    ]─────[relu]──     gemm: 1 and 2, relu: nothing, no kernel: 3
 *   pages to GPU   ─────[1]──[2  ]──[3 ]────────     what began while a kernel ran, with all of it
 *
 * Where several ran it counts for each. Which of them missed the pages, and whether any did, no record says. What the
 * host missed is of no device, and not counted.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/pages.h"
#include "core/snapshot.h"
#include "core/strips.h"

struct while_ran {
	uint32_t node;                  /* of the snapshot; SNAP_NONE: no kernel ran */
	uint64_t amount[PAGES_N_LANES]; /* bytes, or how many */
	uint64_t n_moves;
};

struct while_ran_list {
	struct while_ran *v; /* in the order in which they came */
	size_t n, cap;
};

/* Empty where nothing moved. 0 or -ENOMEM; while_ran_done() in any case. */
int while_ran_make(struct while_ran_list *list, const struct strips *t,
		   const struct snapshot *snap);
void while_ran_done(struct while_ran_list *list);

#endif
