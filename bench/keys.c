/* SPDX-License-Identifier: MIT */
/* What each key of the screen costs on a profile, drawing included, in ms of the processor.
 *
 *	bench/keys FILE [ROUNDS]
 *
 * A line a step: the keys, the longest that one of them took the first time, the median of the
 * further times; in the end how many of them take longer than the budget. Budget: 16 ms at 1,000,000 nodes,
 * the first time and again, but for search, sort and filter. */
#include "config.h" // IWYU pragma: keep
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/snapshot.h"
#include "format/format.h"
#include "tui/tui.h"

#include "screen_times.h"

#define ROUNDS_MAX 99
#define BUDGET_MS  16

/* Each step leaves the screen as it found it, or what the next one begins with. */
static const char *const steps[] = {
	"Down",   "Up",
	"PgDn",   "PgUp",
	"C-d",    "End",
	"Home",   "S-Right",
	"S-Left", "Right",
	"Left",   "o",
	"o",      "H",
	"L",      "u",
	"}",      "{",
	".",      "BkSp",
	"%",      "%",
	"m",      "m",
	"m",      "I",
	"I",      "A",
	"B",      "T",
	"> >",    "< <",
	"? Esc",  "Enter Esc",
	"F6 Esc", "v Esc",
	"C",      "=",
	"e",      "c",
	"E",      "PgDn",
	"Down",   "End",
	"Home",   "o",
	"o",      "I",
	"I",      "C",
	"=",      "/ 'kernel_17' Enter",
	"n",      "N",
	"Esc",    "\\ 'kernel_17' Enter",
	"Esc",    "& '.*kernel_17' Enter",
	"Esc",    "! '.*kernel_17' Enter",
	"Esc",    "& 'time > 1ms' Enter",
	"Esc",    "! 'avg < 5us' Enter",
	"Esc",    "& '**/kernel_17*' Enter",
	"Esc",    "2",
	"Down",   "I",
	"I",      "1",
	"3",      "1",
	"4",      "1",
	"5",      "1",
	"7",      "Down",
	"Right",  "Left",
	"I",      "I",
	"A",      "S",
	"1",      "7",
	"1",      "8",
	"1",      "9",
	"x",      "x",
	"x",      "1",
	"0",      "x",
	"x",      "1",
	"M-1",    "1",
	"G",      "G",
	"G",      "G",
	"G",      "r",
	"R",
};

/* The next key of a step: a word, or a letter of a text in quotes. */
static const char *next_key(const char *p, bool *quoted, char key[16])
{
	size_t n = strcspn(p, " ");

	if (*p == '\'') {
		*quoted = !*quoted;
		p += *quoted ? 1 : 1 + strspn(p + 1, " ");
		return next_key(p, quoted, key);
	}
	if (*quoted)
		n = 1;
	snprintf(key, 16, *quoted ? "'%.*s'" : "%.*s", (int)n, p);
	p += n;
	return *quoted ? p : p + strspn(p, " ");
}

/* The longest of its keys. */
static double step(struct tui *t, const char *keys, struct buf *screen)
{
	bool quoted = false;
	double longest = 0;
	char key[16];

	while (*keys && strcmp(keys, "'") != 0) {
		double ms;

		keys = next_key(keys, &quoted, key);
		ms = press(t, key, 40, 120, screen);
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

static struct session *load(const char *path)
{
	struct format_error error = {0};
	struct session *s = session_new();
	FILE *f = fopen(path, "rbe");
	struct reader_input in;
	const struct format *format;

	if (!f || !s)
		return NULL;
	reader_init_fd(&in, fileno(f));
	if (reader_peek(&in) < 0)
		return NULL;
	format = format_by_content(in.head, in.head_len);
	if (!format || !format->read || format->read(&in, s, &error) < 0)
		return NULL;
	fclose(f);
	s->ended = true;
	return s;
}

int main(int argc, char **argv)
{
	static const struct snapshot_spec spec;
	static const struct tui_options options = {.command = "view"};
	unsigned rounds = argc > 2 ? (unsigned)CLAMP(atoi(argv[2]), 1, ROUNDS_MAX) : 3;
	double ms[ARRAY_SIZE(steps)][ROUNDS_MAX];
	struct session *s;
	struct snapshot *snap;
	struct tui *t;
	struct buf screen;
	unsigned slow_first = 0, slow_again = 0;
	double start = cpu_ms();

	setlocale(LC_ALL, "C.UTF-8");
	s = argc > 1 ? load(argv[1]) : NULL;
	printf("%-32s %8.1f ms\n", "read", cpu_ms() - start);
	snap = s ? snapshot_new(s, &spec) : NULL;
	t = snap ? tui_new(&options, snap, NULL) : NULL;
	if (!t) {
		fprintf(stderr, "keys: cannot read a profile\n");
		return 1;
	}
	buf_init(&screen, 0);
	tui_dump(t, 40, 120, false, &screen);
	printf("%-32s %8.1f ms, %zu nodes\n", "read and draw", cpu_ms() - start, s->n_nodes);
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
			ms[i][r] = step(t, steps[i], &screen);
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
		double first = ms[i][0], again = first;

		qsort(ms[i] + 1, rounds - 1, sizeof(double), compare_ms);
		if (rounds > 1)
			again = ms[i][1 + (rounds - 1) / 2];
		printf("%-32s %8.1f %8.1f\n", steps[i], first, again);
		slow_first += first > BUDGET_MS;
		slow_again += again > BUDGET_MS;
	}
	printf("%-32s %8u %8u of %zu\n", "longer than the budget", slow_first, slow_again,
	       ARRAY_SIZE(steps));
	buf_done(&screen);
	tui_free(t);
	snapshot_free(snap);
	session_free(s);
	return 0;
}
