/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What view_warps() prints, for programs: docs/formats.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/frame_names.h"
#include "format/json_writer.h"
#include "intra/warp_stats.h"
#include "report/report_impl.h"

struct printer {
	struct json_writer w;
	struct report *r;
	const struct warp_stats *stats;
};

/* NaN: null. */
static void put_number(struct printer *p, const char *key, double v)
{
	jsonw_key(&p->w, key);
	jsonw_f64(&p->w, v);
}

static void put_text(struct printer *p, const char *key, uint32_t name)
{
	const struct strtab *names = p->r->o->warps->names;

	jsonw_key(&p->w, key);
	jsonw_string(&p->w, strtab_str(names, name), strtab_len(names, name));
}

static void put_number_of(struct printer *p, const char *key, int64_t v, bool is_known)
{
	jsonw_key(&p->w, key);
	if (is_known)
		jsonw_i64(&p->w, v);
	else
		jsonw_null(&p->w);
}

static void put_process(struct printer *p, const struct warp_trace_launch *launch)
{
	static const struct warp_trace_process none = {.rank = -1};
	const struct warp_trace_process *of =
		launch->process ? &p->r->o->warps->processes[launch->process - 1] : &none;

	put_number_of(p, "rank", of->rank, of->rank >= 0);
	put_number_of(p, "pid", of->pid, of->pid);
}

static void put_outlier(struct printer *p, const struct warp_outlier *o)
{
	jsonw_object_flat(&p->w);
	jsonw_key_u64(&p->w, "block", o->block);
	jsonw_key_u64(&p->w, "multiprocessor", o->multiprocessor);
	jsonw_key_u64(&p->w, "launch", p->r->o->warps->launches[o->launch].launch);
	jsonw_key_u64(&p->w, "launch_index", o->launch);
	put_process(p, &p->r->o->warps->launches[o->launch]);
	put_number(p, "cycles", o->cycles);
	put_number(p, "times_median", o->times);
	jsonw_object_end(&p->w);
}

static void put_spread(struct printer *p, const char *key, const struct warp_stat *s, double of)
{
	jsonw_key(&p->w, key);
	jsonw_object_flat(&p->w);
	put_number(p, "sum", s->cycles * of);
	put_number(p, "mean", s->cycles * of / (double)s->n);
	put_number(p, "min", s->min * of);
	put_number(p, "p50", s->p50 * of);
	put_number(p, "p99", s->p99 * of);
	put_number(p, "max", s->max * of);
	jsonw_object_end(&p->w);
}

static void put_values(struct printer *p, const struct warp_stat *s)
{
	jsonw_key(&p->w, "value");
	jsonw_object_flat(&p->w);
	put_number(p, "sum", s->value);
	put_number(p, "mean", s->value / (double)s->n);
	put_number(p, "min", s->value_min);
	put_number(p, "max", s->value_max);
	jsonw_object_end(&p->w);
}

static void put_scope(struct printer *p, const struct warp_kernel *k, const struct warp_stat *s)
{
	static const char *const events[] = {[WARP_EVENT_SCOPE] = "scope",
					     [WARP_EVENT_ASYNC] = "async",
					     [WARP_EVENT_MARK] = "mark",
					     [WARP_EVENT_VALUE] = "value"};

	jsonw_object(&p->w);
	put_text(p, "name", s->name);
	jsonw_key_text(&p->w, "event", events[s->event]);
	jsonw_key_u64(&p->w, "depth", s->depth);
	jsonw_key_u64(&p->w, "count", s->n);
	jsonw_key_u64(&p->w, "open", s->n_open);
	jsonw_key_u64(&p->w, "warps", s->n_warps);
	if (s->event == WARP_EVENT_SCOPE || s->event == WARP_EVENT_ASYNC) {
		put_number(p, "share", s->share);
		put_spread(p, "cycles", s, 1);
		put_spread(p, "time_ns", s, k->cycle_ns);
		jsonw_key_array(&p->w, "slowest_blocks");
		for (size_t i = 0; i < s->n_outliers; i++)
			put_outlier(p, &p->stats->outliers[s->outliers + i]);
		jsonw_array_end(&p->w);
	}
	if (s->event == WARP_EVENT_VALUE)
		put_values(p, s);
	jsonw_object_end(&p->w);
}

static void put_kernel(struct printer *p, const struct warp_kernel *k)
{
	const struct report_options *o = p->r->o;
	const char *raw = strtab_str(o->warps->names, k->name);
	char *name = naming_of_mode(o->naming, raw, FRAME_KERNEL, (enum name_mode)o->names);

	jsonw_object(&p->w);
	put_text(p, "name", k->name);
	jsonw_key_text(&p->w, "short", name ? name : raw);
	free(name);
	jsonw_key_u64(&p->w, "launches", k->n_launches);
	jsonw_key_u64(&p->w, "blocks", k->n_blocks);
	jsonw_key_u64(&p->w, "warps", k->n_warps);
	jsonw_key_u64(&p->w, "lost_records", k->n_lost);
	jsonw_key_u64(&p->w, "dropped_warps", k->n_dropped);
	put_number(p, "warp_cycles", k->warp_cycles);
	put_number(p, "unknown_cycles", k->unknown_cycles);
	put_number(p, "cycle_ns", k->cycle_ns);
	jsonw_key_u64(&p->w, "multiprocessors", k->n_multiprocessors);
	jsonw_key(&p->w, "is_partial");
	jsonw_bool(&p->w, k->is_partial);
	put_number(p, "blocks_at_once", k->resident);
	put_number(p, "waves", k->waves);
	put_number(p, "duration_ns", k->duration_ns);
	put_number(p, "tail_ns", k->tail_ns);
	put_number(p, "tail_share", k->tail_share);
	jsonw_key_array(&p->w, "scopes");
	for (size_t i = k->stats; i < k->stats + k->n_stats; i++)
		put_scope(p, k, &p->stats->stats[i]);
	jsonw_array_end(&p->w);
	jsonw_object_end(&p->w);
}

void warps_json(struct report *r, const struct warp_stats *stats)
{
	struct printer p = {.r = r, .stats = stats};

	jsonw_init(&p.w, r->out, false);
	jsonw_object(&p.w);
	jsonw_key_text(&p.w, "schema", "proton-warps");
	jsonw_key_u64(&p.w, "version", 1);
	jsonw_key_u64(&p.w, "launches_left_out", r->o->warps->n_left_out);
	jsonw_key_array(&p.w, "kernels");
	for (size_t i = 0; i < stats->n_kernels; i++)
		put_kernel(&p, &stats->kernels[i]);
	jsonw_array_end(&p.w);
	jsonw_object_end(&p.w);
	out_putc(r->out, '\n');
}
