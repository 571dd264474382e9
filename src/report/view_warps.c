/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* Single scopes of warps, of each kernel: how long they took, which blocks took longest, how the blocks filled the device. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "core/frame_names.h"
#include "intra/warp_stats.h"
#include "report/report_impl.h"
#include "report/table.h"
#include "report/words.h"

#define NAME_MOST     CELL_MAX
#define OUTLIERS_MOST 3 /* of a scope, in a text */

struct warps {
	struct report *r;
	const struct warp_stats *stats;
	const struct warp_kernel *kernel;
};

static const struct warp_stat *stat_of(const void *ctx, size_t row)
{
	const struct warps *w = ctx;

	return &w->stats->stats[w->kernel->stats + row];
}

static double mean(const struct warp_stat *s)
{
	return s->cycles / (double)s->n;
}

static double ns(const void *ctx, double cycles)
{
	return cycles * ((const struct warps *)ctx)->kernel->cycle_ns;
}

#define COLUMNS(_)                                                                                 \
	_(count, "COUNT", (double)s->n, count, 0)                                                  \
	_(share, "%", s->share, percent, 0)                                                        \
	_(mean, "CYCLES", mean(s), count, 0)                                                       \
	_(min, "MIN", s->min, count, 5)                                                            \
	_(p50, "P50", s->p50, count, 3)                                                            \
	_(p99, "P99", s->p99, count, 2)                                                            \
	_(max, "MAX", s->max, count, 4)                                                            \
	_(mean_ns, "TIME", ns(ctx, mean(s)), time_ns, 1)                                           \
	_(p50_ns, "P50", ns(ctx, s->p50), time_ns, 7)                                              \
	_(p99_ns, "P99", ns(ctx, s->p99), time_ns, 6)                                              \
	_(value, "VALUE", s->value / (double)s->n, rate, 8)

#define CELL(id, title, v, human, rank)                                                            \
	static void put_##id(const void *ctx, size_t row, char out[CELL_MAX])                      \
	{                                                                                          \
		const struct warp_stat *s = stat_of(ctx, row);                                     \
                                                                                                   \
		human_##human(out, v);                                                             \
	}
COLUMNS(CELL)
#define WORD(id, title, v, human, rank) {title, false, put_##id, rank, NULL},

/* Below what it is entered in. */
static void put_scope(const void *ctx, size_t row, char out[CELL_MAX])
{
	static const char *const marks[] = {[WARP_EVENT_SCOPE] = "",
					    [WARP_EVENT_ASYNC] = " (async)",
					    [WARP_EVENT_MARK] = " (mark)",
					    [WARP_EVENT_VALUE] = " (value)"};
	const struct warps *w = ctx;
	const struct warp_stat *s = stat_of(ctx, row);

	snprintf(out, CELL_MAX, "%*s%s%s", (int)MIN(2 * s->depth, 40u), "",
		 strtab_str(w->r->o->warps->names, s->name), marks[s->event]);
}

static void put_table(struct warps *w)
{
	static const struct word_column numbers[] = {COLUMNS(WORD)};
	struct word_column columns[ARRAY_SIZE(numbers) + 1];
	size_t n_rows = w->kernel->n_stats;

	memcpy(columns, numbers, sizeof(numbers));
	columns[ARRAY_SIZE(numbers)] =
		(struct word_column){.title = "SCOPE", .left = true, .print = put_scope};
	if (w->r->o->rows)
		n_rows = MIN(n_rows, w->r->o->rows);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n_rows, w, true}, w->r->o,
		  w->r->out);
}

/* ---- what stands above and below ---- */

static char *readable(const struct warps *w, uint32_t name)
{
	const char *raw = strtab_str(w->r->o->warps->names, name);
	char *text =
		naming_of_mode(w->r->o->naming, raw, FRAME_KERNEL, (enum name_mode)w->r->o->names);

	return text ? text : strdup(raw);
}

static void put_things(const struct warps *w, double n, const char *noun)
{
	char text[HUMAN_THINGS_MAX];

	human_things(text, n, noun);
	out_puts(w->r->out, text);
}

static void put_head(const struct warps *w)
{
	const struct warp_kernel *k = w->kernel;
	char *name = readable(w, k->name);

	put_name(w->r->out, name ? name : "", 0, w->r->o->ascii);
	free(name);
	out_puts(w->r->out, ": ");
	out_printf(w->r->out, "%" PRIu64 " launch%s, ", k->n_launches,
		   k->n_launches == 1 ? "" : "es");
	put_things(w, (double)k->n_blocks, "block");
	out_puts(w->r->out, ", ");
	put_things(w, (double)k->n_warps, "warp");
	if (!isnan(k->cycle_ns))
		out_printf(w->r->out, ", clock %.0f MHz", 1000 / k->cycle_ns);
	out_putc(w->r->out, '\n');
}

static void put_waves(const struct warps *w)
{
	const struct warp_kernel *k = w->kernel;
	char all[HUMAN_MAX], tail[HUMAN_MAX];

	if (k->is_partial)
		out_puts(w->r->out,
			 "waves, tail: not known, for of no launch all blocks are here\n");
	if (isnan(k->waves))
		return;
	human_time_ns(all, k->duration_ns);
	human_time_ns(tail, k->tail_ns);
	put_things(w, k->n_multiprocessors, "multiprocessor");
	out_puts(w->r->out, ", at most ");
	put_things(w, k->resident, "block");
	out_printf(w->r->out,
		   " on one at once: %.1f waves in %s; tail %s, %.1f%% of the device's time\n",
		   k->waves, all, tail, 100 * k->tail_share);
}

static void put_lost(const struct warps *w)
{
	double unknown = w->kernel->unknown_cycles / w->kernel->warp_cycles;

	if (w->kernel->n_lost)
		out_printf(w->r->out,
			   "lost: %" PRIu64 " records, in rings that were too small or "
			   "without their other half\n",
			   w->kernel->n_lost);
	if (unknown >= 0.0005)
		out_printf(
			w->r->out,
			"not known: what warps did in %.1f%% of their time, before the first record "
			"that is there; %% is of the rest\n",
			100 * unknown);
	if (w->kernel->n_dropped)
		out_printf(w->r->out, "dropped: %" PRIu64 " warps without records\n",
			   w->kernel->n_dropped);
}

static void put_outlier(const struct warps *w, const struct warp_outlier *o)
{
	const struct warp_trace_launch *launch = &w->r->o->warps->launches[o->launch];
	char time[HUMAN_MAX], cycles[HUMAN_MAX], process[WARP_PROCESS_TEXT];

	warp_trace_process_text(w->r->o->warps, launch, process);
	human_count(cycles, o->cycles);
	human_time_ns(time, ns(w, o->cycles));
	out_printf(w->r->out, "  block %" PRIu64 " (SM %" PRIu32, o->block, o->multiprocessor);
	if (launch->launch)
		out_printf(w->r->out, ", launch %" PRIu64, launch->launch);
	else if (w->kernel->n_launches > 1)
		out_printf(w->r->out, ", launch #%" PRIu32, o->launch + 1);
	if (*process)
		out_printf(w->r->out, " of %s", process);
	out_printf(w->r->out, "): %.1fx the median, %s cycles", o->times, cycles);
	if (!isnan(w->kernel->cycle_ns))
		out_printf(w->r->out, ", %s", time);
	out_puts(w->r->out, " of ");
	put_name(w->r->out, strtab_str(w->r->o->warps->names, w->stats->stats[o->stat].name), 0,
		 w->r->o->ascii);
	out_putc(w->r->out, '\n');
}

static void put_outliers(const struct warps *w)
{
	bool any = false;

	for (size_t i = w->kernel->stats; i < w->kernel->stats + w->kernel->n_stats; i++) {
		const struct warp_stat *s = &w->stats->stats[i];

		for (size_t k = 0; k < MIN(s->n_outliers, OUTLIERS_MOST); k++) {
			if (!any)
				out_puts(w->r->out, "blocks far above the median:\n");
			any = true;
			put_outlier(w, &w->stats->outliers[s->outliers + k]);
		}
	}
}

static void put_kernel(struct warps *w)
{
	put_head(w);
	put_waves(w);
	put_table(w);
	put_outliers(w);
	put_lost(w);
}

static void put_left_out(const struct report *r, size_t n_kernels)
{
	char none[WARP_NONE_KEPT_TEXT];

	warp_trace_none_kept_text(r->o->warps, none);
	if (n_kernels)
		out_printf(r->out, "(of %" PRIu64 " more launches single scopes were not kept)\n",
			   r->o->warps->n_left_out);
	else
		out_printf(r->out, "none: %s\n", none);
}

int view_warps(struct report *r)
{
	struct warp_stats stats;
	struct warps w = {.r = r, .stats = &stats};
	int e;

	if (!r->o->warps) {
		out_puts(r->out,
			 "none: proton record --intra-trace keeps single scopes of warps beside "
			 "the profile\n");
		return 0;
	}
	e = warp_stats_init(&stats, r->o->warps, 0, r->o->warps->n_launches);
	if (e < 0)
		return e;
	if (r->o->json)
		warps_json(r, &stats);
	for (size_t i = 0; !r->o->json && i < stats.n_kernels; i++) {
		if (i)
			out_putc(r->out, '\n');
		w.kernel = &stats.kernels[i];
		put_kernel(&w);
	}
	if (!r->o->json && r->o->warps->n_left_out)
		put_left_out(r, stats.n_kernels);
	else if (!r->o->json && !stats.n_kernels)
		out_puts(r->out, r->s->ended ? "none\n" : "none so far\n");
	warp_stats_done(&stats);
	return 0;
}
