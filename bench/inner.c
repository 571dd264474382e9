/* SPDX-License-Identifier: MIT */
/* What the program's own loops cost, without a process around them.
 *
 *	bench/inner decode TAPE [ROUNDS]    frames of a tape into a session
 *	bench/inner save FILE [ROUNDS]      a profile written as a Hatchet file
 *	bench/inner picture FILE [ROUNDS]   a snapshot, its columns, the flat table */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "core/flat.h"
#include "core/snapshot.h"
#include "format/format.h"
#include "wire/decode.h"
#include "wire/wire.h"

static _Noreturn void die(const char *what, const char *path)
{
	fprintf(stderr, "inner: %s: %s\n", path, what);
	exit(1);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Runs fn(ctx) rounds times; ns of the fastest and of the middle one. */
static void measure(unsigned rounds, void (*fn)(void *ctx), void *ctx, double *ret_min,
		    double *ret_median)
{
	double *ns = calloc(rounds, sizeof(*ns));
	unsigned i;

	for (i = 0; ns && i < rounds; i++) {
		uint64_t start = clock_monotonic_ns();

		fn(ctx);
		ns[i] = (double)(clock_monotonic_ns() - start);
	}
	if (ns)
		qsort(ns, rounds, sizeof(*ns), compare);
	*ret_min = ns ? ns[0] : 0;
	*ret_median = ns ? ns[rounds / 2] : 0;
	free(ns);
}

struct tape {
	unsigned char *data;
	size_t len;
	uint64_t frames;
};

static void tape_load(struct tape *t, const char *path)
{
	FILE *f = fopen(path, "rbe");
	long n;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) <= 0)
		die("cannot be read", path);
	rewind(f);
	t->len = (size_t)n;
	t->data = malloc(t->len);
	if (!t->data || fread(t->data, 1, t->len, f) != t->len || !wire_is_tape(t->data, t->len))
		die("is no tape", path);
	fclose(f);
}

static void decode_once(void *ctx)
{
	struct tape *t = ctx;
	struct session *s = session_new();
	struct wire_decoder *d = wire_decoder_new(s);
	size_t at = sizeof(struct wire_tape_header), n;

	for (; at < t->len; at += n) {
		n = MIN(t->len - at, 65536);
		if (wire_decoder_feed(d, t->data + at, n) < 0)
			die("out of memory", "tape");
	}
	t->frames = wire_decoder_frames(d);
	wire_decoder_free(d);
	session_free(s);
}

static void decode(const char *path, unsigned rounds)
{
	struct tape t = {0};
	double min, median;

	tape_load(&t, path);
	measure(rounds, decode_once, &t, &min, &median);
	printf("decode     min %10.1f  median %10.1f ns/frame  %.0f MB/s median, %llu frames, %zu bytes\n",
	       min / (double)t.frames, median / (double)t.frames, (double)t.len * 1e3 / median,
	       (unsigned long long)t.frames, t.len);
	free(t.data);
}

struct save {
	const struct session *s;
	char path[64];
};

static void save_once(void *ctx)
{
	struct save *v = ctx;

	if (format_save(v->path, &format_hatchet, v->s, &(struct write_options){.compact = true}) <
	    0)
		die("cannot be written", v->path);
}

static void picture_once(void *ctx)
{
	static const struct snapshot_spec spec;
	struct snapshot *snap = snapshot_new(ctx, &spec);
	struct numbers *numbers = snap ? numbers_new(snap, NULL) : NULL;
	struct flat *flat = numbers ? flat_new(numbers, true) : NULL;

	if (!snap || snapshot_update(snap, 1) < 0 || !snapshot_column(snap, METRIC_TIME, true) ||
	    !snapshot_column(snap, METRIC_COUNT, true) ||
	    !snapshot_column(snap, METRIC_BYTES, true) || !snapshot_rate(snap, METRIC_TIME) ||
	    !flat || flat_update(flat) < 0)
		die("out of memory", "snapshot");
	derive_used(numbers_derive(numbers), METRIC_ANY_FLOPS, true);
	flat_free(flat);
	numbers_free(numbers);
	snapshot_free(snap);
}

static void of_file(const char *what, const char *path, unsigned rounds)
{
	struct format_error error = {0};
	struct session *s = NULL;
	struct save v = {.path = "/tmp/proton-inner.XXXXXX"};
	double min, median;
	int fd;

	if (format_load(path, &s, &error) < 0)
		die(error.reason, path);
	if (!strcmp(what, "save")) {
		fd = mkstemp(v.path);
		if (fd < 0)
			die("cannot be made", v.path);
		close(fd);
		v.s = s;
		measure(rounds, save_once, &v, &min, &median);
		unlink(v.path);
	} else {
		measure(rounds, picture_once, s, &min, &median);
	}
	printf("%-10s min %10.1f  median %10.1f ms  %.0f ns/node median, %zu nodes\n", what,
	       min / 1e6, median / 1e6, median / (double)s->n_nodes, s->n_nodes);
	session_free(s);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 7;

	if (argc < 3 || !rounds) {
		fputs("usage: inner decode|save|picture FILE [ROUNDS]\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "decode"))
		decode(argv[2], rounds);
	else
		of_file(argv[1], argv[2], rounds);
	return 0;
}
