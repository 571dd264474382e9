/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COUNTER_ROWS_H
#define PROTON_CORE_COUNTER_ROWS_H
/* What is known of a device as a whole, a row a number: what its hardware counters said, and below that what its
 * sensors told. Reports and the screen list these, in the order in which they are read: how busy the multiprocessors
 * were, with what, what they asked of the memory, what went over the links.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "core/sensors.h"
#include "core/session.h"

#define COUNTER_ROWS_TITLE "Hardware counters"

struct counter_row {
	uint32_t device;
	uint8_t number;             /* which one it is, for the functions below */
	double now, mean, min, max; /* NaN: not known; now: of a run that goes on */
};

struct counter_rows {
	struct counter_row *v;
	size_t n;
};

/* Device by device, as people count them; sensors of those alone that have counters. 0 or -ENOMEM. */
int counter_rows_make(struct counter_rows *rows, const struct session *s);
void counter_rows_done(struct counter_rows *rows);

/* What people read: "SM active". */
const char *counter_row_title(const struct counter_row *row);
/* One of its numbers for people, "-" where it is NaN; returns the unit. */
const char *counter_row_text(const struct counter_row *row, double v, char out[HUMAN_MAX]);
/* Which counter it is; COUNTED_N: it is a sensor's. */
enum counter_id counter_row_id(const struct counter_row *row);

/* Which sensor tells what it is now, and of what at most (SENSOR_N: nobody does); SENSOR_N: it is a counter. */
enum sensor counter_row_sensor(const struct counter_row *row, enum sensor *ret_limit);

/* Why there are no rows: what a note says, or which option would make some. Lives as long as the session. */
const char *counter_rows_why_none(const struct session *s);

#endif
