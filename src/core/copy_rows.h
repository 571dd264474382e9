/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COPY_ROWS_H
#define PROTON_CORE_COPY_ROWS_H
/* Copies by direction, stream and channel of the hardware, and how much of them was hidden under other work: what
 * processes told of the same device, context, stream, direction and channel is one row.
 *   thread  one */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "core/numbers.h"
#include "core/session.h"

struct copy_row {
	struct session_copy_lane of; /* its process is the first of them */
	double n, time_ns, hidden_ns, unsure_ns;
	double others_ns; /* how long something else than copies had the device busy */
};

struct copy_rows {
	struct copy_row *v; /* those that took the longest first */
	size_t n, cap;
	double unsure_ns; /* of all */
	bool of_all;      /* of the whole run, whatever `kept` says */
};

/* Finds all anew, of the copies of contexts that count in `kept` (NULL: of all). Of a row all must count or none: where
 * some do, it is not known how much of it they are, and all rows are of the whole run. Zeroed at first. 0 or -ENOMEM
 * (there is none then). */
int copy_rows_make(struct copy_rows *rows, const struct session *s, const struct numbers *kept);
void copy_rows_done(struct copy_rows *rows);
/* By place of the session's copy_lanes: 1 where the copies there count, of rows that are not 0 in `counted`; malloc'd.
 * *ret NULL: of one of them a part does. 0 or -ENOMEM. */
int copy_lanes_counted(const struct session *s, const uint8_t *counted, uint8_t **ret);
#define COPY_ROW_WORD 64
/* "7", with its context before it where the device has several: "2/7"; "others": of those that are not told apart. */
void copy_row_stream(const struct copy_rows *rows, const struct copy_row *c,
		     char out[COPY_ROW_WORD]);
/* "copy 12", "-": not known. */
void copy_row_channel(const struct copy_row *c, char out[COPY_ROW_WORD]);
const char *copy_row_direction(const struct copy_row *c);
/* All of it: "GPU0 HtoD, stream 7, copy 12". */
void copy_row_name(const struct session *s, const struct copy_rows *rows, const struct copy_row *c,
		   char out[2 * COPY_ROW_WORD]);
/* What is to be said of how sure the numbers are; "": nothing. */
void copy_rows_unsure(const struct copy_rows *rows, char out[2 * COPY_ROW_WORD]);

#define COPY_ROWS_TITLE "Copies by stream, and what ran beside them"

/* Columns of the table, as the report and the screen have them (struct copy_row *c).
 *    id         title       value       human  width rank  meaning */
/* clang-format off */
#define COPY_ROW_COLUMNS(_)                                                                        \
	_(time,     "TIME",     c->time_ns,   time_ns, 7, 0,                                       \
	  "time in which they ran; overlaps count once")                                           \
	_(n,        "CALLS",    c->n,         count,   6, 4, "how many; a batch of copies is one") \
	_(hidden,   "HIDDEN",   c->hidden_ns, time_ns, 7, 3,                                       \
	  "of that, while something else than copies ran on the device")                           \
	_(share,    "HIDDEN%",  c->hidden_ns / c->time_ns,   percent, 7, 1,                        \
	  "share of that; -: they took no time")                                                   \
	_(under,    "OVERLAP%", c->others_ns > 0 ? c->hidden_ns / c->others_ns : NAN, percent, 8,  \
	  2,                                                                                       \
	  "of the time of other work, the share in which these copies ran, too; -: there was none")
/* clang-format on */

#endif
