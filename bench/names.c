/* SPDX-License-Identifier: MIT */
/* What short names cost: bench/names tests/names/kernels.tsv [ROUNDS]
 *
 * 100,000 kernels whose signatures have 400 characters, as traces have them and as symbols; each round
 * makes all their short names in a new profile, collisions included. Times in milliseconds.
 *
 * How long they are: bench/names --lengths LIST, of one profile of all names in a list (a line each,
 * behind its last tab): of all, and of those that are longer than they would be alone. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/frame_names.h"
#include "naming/readable.h"

#define NAMES   100000
#define LENGTH  400
#define SAMPLES 64

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "names: %s\n", what);
	exit(1);
}

/* Names of the list whose whole form is about as long as wanted. */
static unsigned take(const char *path, bool symbols, char *ret[SAMPLES])
{
	FILE *in = fopen(path, "r");
	char *line = NULL, *whole;
	size_t cap = 0;
	unsigned n = 0;

	must(in, path);
	while (n < SAMPLES && getline(&line, &cap, in) > 0) {
		char *raw = strchr(line, '\t');

		must(raw, "no list of names");
		raw[strcspn(raw, "\n")] = '\0';
		whole = readable_name(raw + 1, FRAME_KERNEL, NAMING_LEVELS - 1);
		if (whole && !strncmp(raw + 1, "_Z", 2) && strchr(whole, '<') &&
		    strlen(whole) > LENGTH / 2 && strlen(whole) < 2 * LENGTH)
			ret[n++] = strdup(symbols ? raw + 1 : whole);
		free(whole);
	}
	free(line);
	fclose(in);
	must(n == SAMPLES, "the list is too short");
	return n;
}

/* Another name: a number among the arguments, or in the symbol's first name. */
static void vary(char *out, size_t size, const char *name, unsigned i, bool symbol)
{
	const char *at = symbol ? strstr(name, "ILi") : strchr(name, '<');

	if (symbol)
		snprintf(out, size, "%.*sILi%u%s", (int)(at - name), name, i,
			 at + 3 + strspn(at + 3, "0123456789"));
	else
		snprintf(out, size, "%.*s<%u, %s", (int)(at - name), name, i, at + 1);
}

static struct session *profile(const char *path, bool symbols, size_t *ret_chars)
{
	struct session *s = session_new();
	char *sample[SAMPLES], text[4 * LENGTH];
	unsigned n = take(path, symbols, sample);

	*ret_chars = 0;
	must(s, "out of memory");
	for (unsigned i = 0, k = 0; i < NAMES; k++) {
		const char *name = sample[k % n];

		must(k < 100 * NAMES, "no sample can be varied");
		if (symbols && !strstr(name, "ILi"))
			continue;
		vary(text, sizeof(text), name, i++, symbols);
		*ret_chars += strlen(text);
		session_node_intern(s, SESSION_ROOT,
				    session_frame_intern(s, FRAME_KERNEL,
							 strtab_adds(s->strings, text),
							 SESSION_NONE, 0));
	}
	for (unsigned i = 0; i < n; i++)
		free(sample[i]);
	return s;
}

static double round_ms(const struct session *s)
{
	uint64_t start = clock_monotonic_ns();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);

	must(names && frame_names_get(names, 1, NAME_SHORT), "out of memory");
	frame_names_free(names);
	return (double)(clock_monotonic_ns() - start) / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- lengths ---- */

struct lengths {
	const char *title;
	size_t *v, n;
};

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static void print_lengths(struct lengths *l)
{
	if (l->n == 0)
		return;
	qsort(l->v, l->n, sizeof(*l->v), compare_sizes);
	printf("%-6s  %zu names: median %zu, p90 %zu, max %zu characters\n", l->title, l->n,
	       l->v[l->n / 2], l->v[l->n * 9 / 10], l->v[l->n - 1]);
}

/* One profile of a list; its nodes are those from 1 on. */
static struct session *profile_of(const char *path)
{
	FILE *in = fopen(path, "r");
	struct session *s = session_new();
	char *line = NULL;
	size_t cap = 0;

	must(in, path);
	must(s, "out of memory");
	while (getline(&line, &cap, in) > 0) {
		char *tab = strrchr(line, '\t');
		uint32_t name;

		line[strcspn(line, "\n")] = '\0';
		name = strtab_adds(s->strings, tab ? tab + 1 : line);
		session_node_intern(s, SESSION_ROOT,
				    session_frame_intern(s, FRAME_KERNEL, name, SESSION_NONE, 0));
	}
	free(line);
	fclose(in);
	return s;
}

static int lengths(const char *path)
{
	struct session *s = profile_of(path);
	uint64_t start = clock_monotonic_ns();
	struct frame_names *names = frame_names_new(s, &readable_naming, true);
	struct lengths all = {"all", calloc(s->n_nodes, sizeof(size_t)), 0};
	struct lengths wide = {"wide", calloc(s->n_nodes, sizeof(size_t)), 0};

	must(names && all.v && wide.v && frame_names_get(names, 1, NAME_SHORT), "out of memory");
	printf("%.0f ms\n", (double)(clock_monotonic_ns() - start) / 1e6);
	for (uint32_t node = 1; node < s->n_nodes; node++) {
		const char *raw = session_node_name(s, node);
		const char *name = frame_names_get(names, node, NAME_SHORT);
		char *shortest = readable_name(raw, FRAME_KERNEL, 0);

		all.v[all.n++] = strlen(name);
		if (strcmp(name, shortest ? shortest : raw) != 0)
			wide.v[wide.n++] = strlen(name);
		free(shortest);
	}
	print_lengths(&all);
	print_lengths(&wide);
	free(all.v);
	free(wide.v);
	frame_names_free(names);
	session_free(s);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const titles[] = {"signatures", "symbols"};
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 7;
	double ms[64];
	size_t chars;

	if (argc == 3 && !strcmp(argv[1], "--lengths"))
		return lengths(argv[2]);
	must(argc > 1 && rounds >= 1 && rounds <= ARRAY_SIZE(ms), "usage: names LIST [ROUNDS]");
	for (int symbols = 0; symbols < 2; symbols++) {
		struct session *s = profile(argv[1], symbols, &chars);

		for (unsigned i = 0; i < rounds; i++)
			ms[i] = round_ms(s);
		qsort(ms, rounds, sizeof(*ms), compare);
		printf("%-10s  %u names of %zu characters: min %.0f ms, median %.0f ms\n",
		       titles[symbols], NAMES, chars / NAMES, ms[0], ms[rounds / 2]);
		session_free(s);
	}
	return 0;
}
