/* SPDX-License-Identifier: MIT */
/* attention_warps FILE [N]: writes single scopes of two launches of an attention kernel that nobody ran (unit/warp_traces.h); with N, that
 * so many were left out, and none. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/warp_traces.h"
#include "intra/warp_file.h"

static int put(void *ctx, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, ctx) == n ? 0 : -EIO;
}

static int write_all(const struct warp_trace *t, FILE *f)
{
	struct warp_writer w = {.put = put, .ctx = f};
	int r = warp_writer_begin(&w);

	for (size_t i = 0; r == 0 && i < t->n_launches; i++)
		r = warp_writer_launch(&w, t, i);
	if (r == 0 && t->n_left_out)
		r = warp_writer_lost(&w, t->n_left_out);
	warp_writer_done(&w);
	return r;
}

int main(int argc, char **argv)
{
	struct warp_trace t;
	FILE *f = argc == 2 || argc == 3 ? fopen(argv[1], "wb") : NULL;
	int r;

	if (!f || warp_trace_init(&t) < 0) {
		fputs("usage: attention_warps FILE [N]\n", stderr);
		return 2;
	}
	t.n_left_out = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	for (uint64_t launch = 3811; !t.n_left_out && launch <= 3812; launch++)
		warp_launch(&t, launch, 20);
	r = write_all(&t, f);
	warp_trace_done(&t);
	return fclose(f) != 0 || r < 0;
}
