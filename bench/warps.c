/* SPDX-License-Identifier: MIT */
/* What the timeline within kernels costs on a launch of many scopes, drawing included, in ms of the processor.
 *
 *	bench/warps [SCOPES] [BLOCKS] [WARPS]
 *
 * SCOPES (1,000,000) of BLOCKS (1056) with WARPS (8) each, on 132 multiprocessors. The first line is what the first screen costs;
 * then the longest and the median of each key, for lanes of each kind. Budget: 33 ms, 30 frames a second. */
#include "config.h" // IWYU pragma: keep
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/snapshot.h"
#include "intra/warp_source.h"
#include "tui/tui.h"

#include "made_warps.h"
#include "screen_times.h"

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"CTAs", "SMs", "warps", "groups"};
	static const char *const keys[] = {"Right", "S-Right", "+", "}",    "S-Left",
					   "-",     "L",       "=", "Down", "PgDn"};
	static const struct snapshot_spec spec;
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	uint64_t blocks = argc > 2 ? strtoul(argv[2], NULL, 10) : 1056;
	uint32_t warps = argc > 3 ? (uint32_t)atoi(argv[3]) : 8;
	struct session *s = session_new();
	struct warp_trace trace;
	struct warp_source source = {.list = &trace};
	struct tui_options options = {.command = "view", .warps = &source};
	struct snapshot *snap;
	struct buf screen;
	struct tui *t;

	setlocale(LC_ALL, "C.UTF-8");
	if (!s || warp_trace_init(&trace) < 0)
		return 1;
	make_warps(&trace, n, MAX(blocks, 1), MAX(warps, 1));
	s->ended = true;
	snap = snapshot_new(s, &spec);
	t = snap ? tui_new(&options, snap, NULL) : NULL;
	if (!t)
		return 1;
	buf_init(&screen, 0);
	tui_dump(t, 50, 200, false, &screen);
	printf("%-24s %8.1f ms, %zu scopes\n", "first screen", press_large(t, "M-9", &screen),
	       trace.n_scopes);
	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		printf("%-24s %8.1f ms\n", kinds[kind],
		       press_large(t, kind ? "= G" : "=", &screen));
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			time_key(t, keys[i], &screen);
	}
	printf("%-24s %8.1f ms\n", "/ not found", press_large(t, "/ 'nobody' Enter", &screen));
	buf_done(&screen);
	tui_free(t);
	snapshot_free(snap);
	session_free(s);
	warp_trace_done(&trace);
	return 0;
}
