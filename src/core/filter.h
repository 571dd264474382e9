/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FILTER_H
#define PROTON_CORE_FILTER_H
/* Which nodes of a snapshot are shown.
 *
 *   include X    paths through a node that X selects: its ancestors, itself, its descendants
 *   exclude X    neither a node that X selects nor what is below it
 *   at least X   nodes whose value is no less, and their ancestors
 *
 * What X may be is in core/selector.h. What is above a node has more of most values than the node: where a
 * condition includes, only the last node that it selects on a path has its descendants with it, else
 * "time > 1ms" would leave all that is below the first.   thread  one */
#include <stdint.h>
#include "core/selector.h"
#include "core/snapshot.h"

struct filter {
	const struct selector *include, *exclude; /* NULL: there is no such one */
	const struct peaks *peaks;                /* may be NULL; for util in conditions */
};
static inline bool filter_any(const struct filter *f)
{
	return f->include || f->exclude;
}

/* A mask is a byte a node, 1 = shown; malloc'd. All but launch metadata. NULL: out of memory. */
uint8_t *filter_all(const struct snapshot *snap);
/* Leaves out of a mask what is allocated, calls of the GPU's library, forms of graphs and code of kernels, and calling contexts of which
 * nothing else is known, where no column asks for them (asked: ROWS_OF_*, core/column.h): they have no numbers in others. 0 or -ENOMEM. */
int filter_out_unasked(uint8_t *mask, struct snapshot *snap, unsigned asked);
/* Are there such rows? */
bool filter_has_unasked(struct snapshot *snap, unsigned asked);
/* Of the nodes that are shown, those whose own names match. */
struct name_pattern;
uint8_t *filter_matching(struct snapshot *snap, const struct name_pattern *p);
/* What a filter leaves. Conditions compare values of the snapshot as it is: it must not be masked by what
 * they left before. 0, -ENOMEM, or -ECANCELED: the snapshot's tick said to stop. */
int filter_make(const struct filter *f, struct snapshot *snap, uint8_t **ret_mask);
/* The same for who keeps launch metadata, of which selectors know nothing: it is left where the context above
 * it is, and not only as what is above something else. *ret_metadata: a byte a node, of it alone. */
int filter_make_apart(const struct filter *f, struct snapshot *snap, uint8_t **ret_mask,
		      uint8_t **ret_metadata);
/* 0, -ENOMEM or -ECANCELED; then the mask is of no use. */
int filter_include(uint8_t *mask, struct snapshot *snap, const struct selector *x,
		   const struct peaks *peaks);
int filter_exclude(uint8_t *mask, struct snapshot *snap, const struct selector *x,
		   const struct peaks *peaks);
void filter_at_least(uint8_t *mask, const struct snapshot *snap, const double *values,
		     double least);
/* Upstream's rule: leave out frames with neither values nor children, and those whose children are
 * all left out. present: a byte a node, 0 = treat it as if it did not exist; or NULL. */
void filter_empty(uint8_t *mask, const struct snapshot *snap, const uint8_t *present);

/* What may be wrong with a selector that leaves nothing. */
enum filter_hint {
	FILTER_NO_HINT,
	FILTER_ANCHORED,  /* it finds no name, but would within one */
	FILTER_NO_BLANKS, /* "time>1ms" is a name: it would be a condition with blanks */
	FILTER_NO_STARS,  /* "step/forward" is a name: it would be a path with a "*" */
	FILTER_N_HINTS
};
enum filter_hint filter_hint(const struct selector *include, struct snapshot *snap);

/* How much a mask of a snapshot leaves. */
struct filter_left {
	uint32_t rows, all_rows; /* calling contexts, without the root */
	double time, all_time;   /* ns, of derive_time(); NaN: there is none */
	bool has_below;          /* what a condition includes has its descendants with it */
	bool has_cut;            /* a scope lost work that its bytes or operations are of, too */
};
/* include: what the mask was made of; NULL: nothing was included. */
void filter_left(struct snapshot *snap, const struct selector *include, struct filter_left *ret);
/* "12 of 340 rows, 3.10ms of 9.40ms (33.0 %)", and what is not expected of it. */
#define FILTER_LEFT_MAX 160
void filter_left_text(const struct filter_left *left, char out[FILTER_LEFT_MAX]);

#endif
