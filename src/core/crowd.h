/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_CROWD_H
#define PROTON_CORE_CROWD_H
/* Finds what filled the tables. Names that differ only in a number ("step 17", "aten::add, op_id =
 * 17") take a calling context each, until the tables are full and the rest of the run is
 * "<other>". */
#include <stddef.h>
#include <stdint.h>
#include "core/loss.h"
#include "core/session.h"

struct crowd {
	uint32_t n;      /* nodes whose names are equal but for their digits, below one parent */
	uint32_t parent; /* node */
	uint32_t one;    /* any of them */
};

/* The largest crowd of a session; n is 0 when there is none. 0, or -ENOMEM. */
int crowd_find(const struct session *s, struct crowd *ret);

/* loss_text() of n; where a table of contexts was full, with who filled it: "calling contexts
 * folded into <other>: too many names, 65000 like 'step #' in 'main'". Names are raw: to be shown
 * by base/shown.h. Returns out. */
const char *crowd_loss_text(const struct session *s, enum loss loss, uint64_t n,
			    char out[LOSS_TEXT_MAX]);

#endif
