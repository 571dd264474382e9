/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_UNITS_H
#define PROTON_BASE_UNITS_H
/* Units that people write: behind a number ("1.5ms", "4MiB", "20K", "5%") and in the name of a column
 * ("time/ms", "bytes/MiB", "gbyte/s"). One list of them, for all who read any.
 *   thread  any */
#include <stddef.h>
#include <stdint.h>

enum unit_of { UNIT_OF_TIME, UNIT_OF_BYTES, UNIT_OF_NUMBERS };

/* How many nanoseconds, bytes or single things a unit is, in any case: "ms"; "MiB", "mb" or "M" of
 * bytes; "M" of numbers. 0, or -EINVAL: there is no such unit. */
int unit_factor(enum unit_of of, const char *word, size_t len, double *ret);
/* The i-th prefix, "Ki" before "k", the empty one last, and what it stands for; NULL: no more. */
const char *unit_prefix(size_t i, double *ret);

/* A number and its unit. */
enum amount_unit {
	AMOUNT_PLAIN,  /* none: in whatever it is compared with has */
	AMOUNT_SCALED, /* K, M, G … alone: of bytes or of numbers */
	AMOUNT_TIME,   /* value in nanoseconds */
	AMOUNT_BYTES,
	AMOUNT_PERCENT, /* value 0..100 */
};
struct amount {
	double value;
	uint8_t unit; /* enum amount_unit */
};

/* Read one from all of the text; blanks and tabs may stand around the number and its unit. Units are in
 * the case in which they are printed: "1m" could be anything. 0, or -EINVAL. */
int amount_parse(const char *text, size_t len, struct amount *ret);

#endif
