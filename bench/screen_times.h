/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BENCH_SCREEN_TIMES_H
#define PROTON_BENCH_SCREEN_TIMES_H
/* What keys cost on a screen, in ms of the processor, and numbers to fill it with. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/buf.h"
#include "base/util.h"
#include "tui/tui.h"

#define KEY_ROUNDS 40

/* One below `below`; the same ones in each run. */
static inline uint64_t draw_number(uint64_t below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % below;
}

static inline double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* For qsort(), of doubles. */
static inline int compare_ms(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

/* Keys, and the screen of this size behind them. */
static inline double press(struct tui *t, const char *keys, int rows, int cols, struct buf *screen)
{
	double start = cpu_ms();

	buf_clear(screen);
	if (tui_key_script(t, keys) < 0) {
		fprintf(stderr, "'%s' are no keys\n", keys);
		exit(1);
	}
	tui_dump(t, rows, cols, false, screen);
	return cpu_ms() - start;
}

/* On a large screen. */
static inline double press_large(struct tui *t, const char *keys, struct buf *screen)
{
	return press(t, keys, 50, 200, screen);
}

/* A line of the longest and the median of many times the same key. */
static inline void time_key(struct tui *t, const char *key, struct buf *screen)
{
	double ms[KEY_ROUNDS];

	for (int i = 0; i < KEY_ROUNDS; i++)
		ms[i] = press_large(t, key, screen);
	qsort(ms, KEY_ROUNDS, sizeof(ms[0]), compare_ms);
	printf("  %-22s %8.1f %8.1f\n", key, ms[KEY_ROUNDS - 1], ms[KEY_ROUNDS / 2]);
}

#endif
