/* SPDX-License-Identifier: MIT */
/* How fast single scopes are read: bench/warp_decode [MIB [ROUNDS]]. Buffers as warps write them (intra/warp_records.h), those of
 * the same as traces (format/warps.h), files of ours (intra/warp_file.h) and statistics: MB of what is read in a second, the fastest
 * round. */
#include "config.h" // IWYU pragma: keep
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/util.h"
#include "format/warps.h"
#include "intra/warp_file.h"
#include "intra/warp_stats.h"

#define N_WARPS 4
#define RECORDS 1024 /* of a warp: a loop, in it two scopes */
#define WORDS   (WARP_BLOCK_WORDS + N_WARPS + N_WARPS * RECORDS * 2)

static uint32_t *dump; /* a file of Triton's Proton */
static size_t dump_bytes;
static const uint32_t recording[N_WARPS] = {0, 1, 2, 3};
static struct buf file;
static struct warp_trace trace;
static size_t n_scopes;

static void put_record(uint32_t **at, bool leaves, uint32_t scope, uint32_t clock)
{
	*(*at)++ = htole32((leaves ? 1u << 31 : 0) | scope << 23);
	*(*at)++ = htole32(clock);
}

static void put_warp(uint32_t *at, uint32_t clock)
{
	for (unsigned i = 0; i + 6 <= RECORDS; i += 6, clock += 700) {
		put_record(&at, false, 0, clock);
		put_record(&at, false, 1, clock + 10);
		put_record(&at, true, 1, clock + 210);
		put_record(&at, false, 2, clock + 220);
		put_record(&at, true, 2, clock + 600 + i % 7);
		put_record(&at, true, 0, clock + 690);
	}
}

static int make_dump(uint32_t n_blocks)
{
	const uint32_t head[] = {1, 4,        56,      56,        n_blocks * WORDS * 4,
				 1, n_blocks, N_WARPS, WORDS * 4, N_WARPS,
				 0, 1,        2,       3};

	dump_bytes = sizeof(head) + (size_t)n_blocks * WORDS * 4;
	dump = calloc(1, dump_bytes);
	if (!dump)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		dump[i] = htole32(head[i]);
	for (uint32_t b = 0; b < n_blocks; b++) {
		uint32_t *p = dump + ARRAY_SIZE(head) + (size_t)b * WORDS;

		p[0] = htole32(WARP_BLOCK_MAGIC);
		p[1] = htole32(b);
		p[2] = htole32(b % 132);
		p[3] = htole32(N_WARPS * RECORDS * 8);
		p[4] = htole32(1000 + b);
		p[6] = htole32(90000 + b);
		for (uint32_t w = 0; w < N_WARPS; w++) {
			p[WARP_BLOCK_WORDS + w] = htole32(RECORDS / 6 * 6 * 2);
			put_warp(p + WARP_BLOCK_WORDS + N_WARPS + w * RECORDS * 2, b * 77 + w);
		}
	}
	return 0;
}

static int on_warp(void *ctx, const struct warp_block *block, uint32_t warp,
		   struct warp_contents *contents)
{
	(void)ctx, (void)block, (void)warp;
	n_scopes += contents->n_scopes;
	return 0;
}

static int decode_records(size_t *ret_bytes)
{
	const struct warp_layout layout = {.n_blocks = le32toh(dump[6]),
					   .n_warps = N_WARPS,
					   .block_bytes = WORDS * 4,
					   .recording = recording,
					   .n_recording = N_WARPS};
	struct warp_losses losses = {0};

	*ret_bytes = dump_bytes - 56;
	return warp_records_decode(dump + 14, *ret_bytes, &layout, on_warp, NULL, &losses);
}

static int read_into(const void *data, size_t size, struct warp_trace *t)
{
	struct reader_memory memory = {.data = data, .len = size};
	struct format_error error = {0};
	struct reader_input in;
	struct warps_said said;
	int r;

	reader_init_memory(&in, &memory);
	r = reader_peek(&in);
	if (r == 0)
		r = warp_trace_init(t);
	return r == 0 ? warps_read_trace(&in, t, &said, &error) : r;
}

static int read_dump(size_t *ret_bytes)
{
	warp_trace_done(&trace);
	*ret_bytes = dump_bytes;
	return read_into(dump, dump_bytes, &trace);
}

static int put(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return ((struct buf *)ctx)->error;
}

static int write_file(size_t *ret_bytes)
{
	struct warp_writer w = {.put = put, .ctx = &file};
	int r;

	buf_clear(&file);
	r = warp_writer_begin(&w);
	if (r == 0)
		r = warp_writer_launch(&w, &trace, 0);
	warp_writer_done(&w);
	*ret_bytes = file.len;
	return r;
}

static int read_file(size_t *ret_bytes)
{
	struct warp_trace t;
	int r = read_into(file.data, file.len, &t);

	*ret_bytes = file.len;
	warp_trace_done(&t);
	return r;
}

static int make_stats(size_t *ret_bytes)
{
	struct warp_stats stats;
	int r = warp_stats_init(&stats, &trace, 0, trace.n_launches);

	*ret_bytes = file.len;
	warp_stats_done(&stats);
	return r;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const struct {
	const char *what;
	int (*run)(size_t *ret_bytes);
} ways[] = {
	{"records to scopes", decode_records}, {"buffer to trace", read_dump},
	{"trace to .warps", write_file},       {".warps to trace", read_file},
	{"statistics, by .warps", make_stats},
};

int main(int argc, char **argv)
{
	unsigned long mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;

	buf_init(&file, 0);
	if (warp_trace_init(&trace) < 0 ||
	    make_dump((uint32_t)MIN(mib * 1024 * 1024 / (WORDS * 4), 1u << 16)) < 0)
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		double best = 0;
		size_t bytes = 0;

		for (unsigned long k = 0; k < rounds; k++) {
			double start = now();

			if (ways[i].run(&bytes) < 0)
				return 1;
			best = MAX(best, (double)bytes / 1e6 / (now() - start));
		}
		printf("%-24s %8.0f MB/s of %.0f MB\n", ways[i].what, best, (double)bytes / 1e6);
	}
	printf("%zu scopes\n", trace.n_scopes);
	warp_trace_done(&trace);
	buf_done(&file);
	free(dump);
	return 0;
}
