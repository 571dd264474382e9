/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_HUMAN_H
#define PROTON_BASE_HUMAN_H
/* Numbers for people: four significant places at most, a unit that fits, fixed width.
 * A NaN prints as "-" (absent is not zero). Each writes a NUL-terminated string. */
#include <stddef.h>
#include <stdint.h>

#define HUMAN_MAX 16 /* enough for every function here */

void human_time_ns(char out[HUMAN_MAX], double ns);  /* "804us", "42.60s", "16m40s", "33h53m" */
void human_bytes(char out[HUMAN_MAX], double bytes); /* "28.6G" (powers of 1000), "4096" */
void human_count(char out[HUMAN_MAX], double n);     /* "233K", "7488" */
/* "1 kernel", "7488 kernels": with a noun of regular plural, 16 characters at most. */
#define HUMAN_THINGS_MAX (HUMAN_MAX + 18)
void human_things(char out[HUMAN_THINGS_MAX], double n, const char *noun);
void human_rate(char out[HUMAN_MAX],
		double per_second);                    /* plain magnitude: "1107", "6.17", "0.02" */
void human_percent(char out[HUMAN_MAX], double ratio); /* 0..1 -> "98.4" */
void human_clock(char out[HUMAN_MAX], uint64_t ns);    /* "00:01:01" */

#endif
