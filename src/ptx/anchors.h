/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_ANCHORS_H
#define PROTON_PTX_ANCHORS_H
/* Which scopes a kernel gets by the rules, and at which points they are entered and left.
 *
 * None is entered or left between the fence of a group of wgmma and its commit: what would be is led around the group, or is not
 * probed. Waits for an mbarrier are loops, and scopes of the wait's kind.
 *   threads  one */
#include "ptx/flow.h"
#include "ptx/rules.h"

struct ptx_scope {
	enum ptx_anchor anchor;
	char *name;
	uint32_t statement; /* where it begins; PTX_NONE: the kernel */
};

enum ptx_where {
	PTX_BEFORE,   /* a statement */
	PTX_BEHIND,   /* a statement */
	PTX_ON,       /* an edge */
	PTX_AT_START, /* of the kernel */
	PTX_AT_END,   /* of threads, before a statement that ends them, and only where it does */
};

struct ptx_point {
	enum ptx_where where;
	uint32_t at;    /* index of the statement or of the edge */
	uint32_t scope; /* index */
	bool leaves;
};

struct ptx_plan {
	struct ptx_scope *scope; /* those around others before them */
	size_t n_scopes, cap_scopes;
	struct ptx_point *point; /* of a scope, one after another */
	size_t n_points, cap_points;
	bool has_func;     /* the first scope is the kernel */
	uint32_t n_over;   /* scopes more than the limit */
	uint32_t n_within; /* … that would cut a group of wgmma */
};

/* 0 or -ENOMEM. Fills *ret, which ptx_plan_done() frees whatever is returned. */
int ptx_plan_make(const struct ptx_flow *flow, const struct ptx_rules *rules, struct ptx_plan *ret);
void ptx_plan_done(struct ptx_plan *plan);
/* Where a statement is in the source: a file's name without its folders, and the line; 0: not known. */
uint32_t ptx_source_of(const struct ptx_text *text, const struct ptx_statement *s,
		       struct ptx_span *ret_file);

#endif
