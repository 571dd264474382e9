/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_STEP_MARKS_H
#define PROTON_CORE_STEP_MARKS_H
/* What there was at any moment of late: bytes of devices that are held, and bytes that were copied by then.
 *
 *       floor         settled            │ not all is there
 *   ─ given up ┤  o    o   oo      o     │  o    o            time ─>
 *                  v[].v: what there is behind each
 *
 * Changes come in runs that are sorted by their time, in any order until the time that is settled. One that comes later
 * than that counts from then on.
 *   thread  one
 *   errors  none: the memory is the caller's */
#include <stdbool.h>
#include <stdint.h>

enum step_total {
	STEP_TOTAL_LIVE, /* what is held; the others only grow */
	STEP_TOTAL_TO_DEVICE,
	STEP_TOTAL_TO_HOST,
	STEP_TOTAL_WITHIN, /* devices */
	STEP_N_TOTALS
};

/* So many bytes were copied, or are held now. */
struct step_change {
	uint64_t at_ns, bytes;
	enum step_total what;
};

struct step_mark {
	uint64_t at_ns;
	uint32_t what, pad;
	uint64_t v[STEP_N_TOTALS]; /* until it is settled v[what] is what came */
};

struct step_marks {
	struct step_mark *v; /* by their time */
	uint32_t n, n_settled, max;
	uint64_t floor;
	uint64_t before[STEP_N_TOTALS]; /* v[0] */
	uint64_t now[STEP_N_TOTALS];    /* behind all that are settled */
	bool has_memory;                /* ever */
};

/* room: for max of them; max >= 4. */
void step_marks_init(struct step_marks *m, struct step_mark *room, uint32_t max);
/* n changes, sorted by time; n <= max / 4. Where there is no room the oldest are forgotten. */
void step_marks_add(struct step_marks *m, const struct step_change *run, uint32_t n);
/* All before a time is there. */
void step_marks_settle(struct step_marks *m, uint64_t until_ns);
/* … but for something that is missing: before that time nothing is known. */
void step_marks_raise_floor(struct step_marks *m, uint64_t floor_ns);
/* What there was by the changes before a moment that is settled. False: it was forgotten. */
bool step_marks_at(const struct step_marks *m, uint64_t at_ns, uint64_t ret[STEP_N_TOTALS]);
/* Of those that are settled, only so many stay. */
void step_marks_keep(struct step_marks *m, uint32_t n);

#endif
