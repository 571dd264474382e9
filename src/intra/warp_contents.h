/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_CONTENTS_H
#define PROTON_INTRA_WARP_CONTENTS_H
/* What one warp recorded, however it did: scopes, what is a moment or has a value, and what it added up by itself.
 *   threads  any, each object by one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct warp_scope {
	uint64_t enter,
		leave; /* cycles of the warp's clock; it may begin anew between blocks and launches */
	uint32_t
		parent; /* index of the innermost one that was open when it was entered; UINT32_MAX: none */
	uint32_t scope; /* below WARP_SCOPES, or a hash of its name (warp_slices.h) */
	bool is_open;   /* its leaving was not recorded: no time */
	bool is_whole;  /* one record has both */
};

/* What is a moment, or has a value. */
enum warp_point_kind { WARP_POINT_MARK, WARP_POINT_VALUE, WARP_POINT_BEGIN, WARP_POINT_END };
struct warp_point {
	uint64_t at;     /* cycles of the warp's clock */
	uint32_t parent; /* index of the innermost scope that was open; UINT32_MAX: none */
	uint32_t scope;  /* what it is called */
	enum warp_point_kind kind;
	uint32_t event; /* of those of that name: which */
	double value;
};

enum warp_sum_kind {
	WARP_SUM_SCOPE,
	WARP_SUM_MARK,
	WARP_SUM_VALUE,
	WARP_SUM_EVENT,
	WARP_SUM_KINDS
};
struct warp_sum {
	uint32_t parent; /* index of an earlier one; UINT32_MAX: none */
	uint32_t scope;
	enum warp_sum_kind kind;
	uint32_t n, n_begun;
	uint64_t cycles, cycles_min,
		cycles_max; /* of events: ends less beginnings, which may be elsewhere */
	double value, value_min, value_max;
};

struct warp_contents {
	struct warp_scope *scopes; /* in the order of entering, parents first */
	struct warp_point *points; /* in their order */
	struct warp_sum *sums;
	size_t n_scopes, n_points, n_sums;
};

void warp_contents_done(struct warp_contents *c);
/* What points, which are in their order, are within. */
void warp_contents_place_points(struct warp_contents *c);
/* Numbers as their bits are. */
double warp_f32(uint32_t bits);
double warp_f16(uint16_t bits);

#endif
