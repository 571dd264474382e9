/* SPDX-License-Identifier: MIT */
/* What the timeline within kernels costs while the program runs, in ms of the processor, at each refresh of the screen.
 *
 *	bench/warps_live [SCOPES] [LAUNCHES]
 *
 * LAUNCHES (1,000) of few scopes are kept, and nothing comes; then, one after another, launches of SCOPES (1,000,000) come, which are
 * found, read, arranged and drawn. The longest and the median. Budget: a twentieth of the time between refreshes. */
#include "config.h" // IWYU pragma: keep
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/snapshot.h"
#include "intra/warp_file.h"
#include "live/warps_now.h"
#include "tui/tui.h"

#include "made_warps.h"
#include "screen_times.h"

#define ROUNDS 10

static char folder[] = "/tmp/warps_live.XXXXXX";

static int put(void *ctx, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, ctx) == n ? 0 : -1;
}

static void file_name(char path[sizeof(folder) + 32], size_t number)
{
	snprintf(path, sizeof(folder) + 32, "%s/1-%zu" WARP_FILE_SUFFIX, folder, number);
}

static void leave(size_t number, size_t n_scopes, uint64_t blocks)
{
	char path[sizeof(folder) + 32];
	struct warp_writer w = {.put = put};
	struct warp_trace t;

	file_name(path, number);
	w.ctx = fopen(path, "we");
	if (!w.ctx || warp_trace_init(&t) < 0)
		exit(1);
	make_warps(&t, n_scopes, blocks, 8);
	t.launches[0].launch = number;
	if (warp_writer_begin(&w) < 0 || warp_writer_launch(&w, &t, 0) < 0)
		exit(1);
	warp_writer_done(&w);
	warp_trace_done(&t);
	fclose(w.ctx);
}

static void take_away(size_t number)
{
	char path[sizeof(folder) + 32];

	file_name(path, number);
	unlink(path);
}

static void refresh(struct tui *t, struct buf *screen, double *ret_ms)
{
	double start = cpu_ms();

	tui_refresh(t);
	press_large(t, "", screen);
	*ret_ms = cpu_ms() - start;
}

static void print(const char *what, double ms[ROUNDS])
{
	qsort(ms, ROUNDS, sizeof(ms[0]), compare_ms);
	printf("%-24s %8.1f %8.1f\n", what, ms[ROUNDS - 1], ms[ROUNDS / 2]);
}

static void time_refreshes(struct warps_now *now, struct tui *t, size_t n_scopes, size_t n_launches)
{
	struct warp_source *source = warps_now_source(now);
	double ms[ROUNDS], first;
	struct buf screen;

	buf_init(&screen, 0);
	for (size_t i = 1; i <= n_launches; i++)
		leave(i, 64, 1);
	refresh(t, &screen, &first);
	press_large(t, "M-9", &screen);
	printf("%-24s %8.1f\n", "all of them come", first);
	for (size_t i = 0; i < ROUNDS; i++)
		refresh(t, &screen, &ms[i]);
	print("nothing comes", ms);
	for (size_t i = 0; i < ROUNDS; i++) {
		leave(n_launches + 1 + i, n_scopes, 1056);
		press_large(t, ">", &screen); /* to the first one */
		first = cpu_ms();
		source->look(source);
		press_large(t, "<", &screen); /* to the last */
		ms[i] = cpu_ms() - first;
		if (i)
			take_away(n_launches + i);
	}
	print("a large one comes", ms);
	buf_done(&screen);
	for (size_t i = 1; i <= n_launches + ROUNDS; i++)
		take_away(i);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	static const struct snapshot_spec spec;
	struct tui_options options = {.command = "top", .live = true};
	struct session *s = session_new();
	struct warps_now *now = mkdtemp(folder) ? warps_now_new(folder) : NULL;
	struct snapshot *snap = s ? snapshot_new(s, &spec) : NULL;
	struct tui *t;

	setlocale(LC_ALL, "C.UTF-8");
	if (!now || !snap)
		return 1;
	options.warps = warps_now_source(now);
	t = tui_new(&options, snap, NULL);
	if (!t)
		return 1;
	time_refreshes(now, t, argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000,
		       argc > 2 ? strtoul(argv[2], NULL, 10) : 1000);
	tui_free(t);
	warps_now_free(now);
	snapshot_free(snap);
	session_free(s);
	return 0;
}
