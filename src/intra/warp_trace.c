/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "intra/warp_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"

int warp_trace_init(struct warp_trace *t)
{
	*t = (struct warp_trace){.names = strtab_new()};
	return t->names ? 0 : -ENOMEM;
}

void warp_trace_done(struct warp_trace *t)
{
	strtab_free(t->names);
	free(t->launches);
	free(t->warps);
	free(t->scopes);
	free(t->processes);
	idindex_done(&t->process_index);
	*t = (struct warp_trace){.names = NULL};
}

static bool is_process(const void *ctx, uint32_t id, const void *key)
{
	const struct warp_trace_process *a = &((const struct warp_trace *)ctx)->processes[id];
	const struct warp_trace_process *b = key;

	return a->instance == b->instance && a->pid == b->pid && a->rank == b->rank;
}

int warp_trace_process(struct warp_trace *t, const struct warp_trace_process *process,
		       uint32_t *ret)
{
	uint64_t hash =
		hash_u64(process->instance ^ hash_pair(process->pid, (uint32_t)process->rank));
	uint32_t at = idindex_find(&t->process_index, hash, is_process, t, process);

	*ret = at == IDINDEX_NONE ? 0 : at + 1;
	if (*ret || t->n_processes == WARP_PROCESSES_MOST)
		return 0;
	if (ARRAY_ROOM(t->processes, t->cap_processes, t->n_processes + 1) < 0 ||
	    idindex_add(&t->process_index, hash, (uint32_t)t->n_processes) < 0)
		return -ENOMEM;
	t->processes[t->n_processes++] = *process;
	*ret = (uint32_t)t->n_processes;
	return 0;
}

void warp_trace_process_text(const struct warp_trace *t, const struct warp_trace_launch *launch,
			     char text[WARP_PROCESS_TEXT])
{
	const struct warp_trace_process *p =
		launch->process && t->n_processes > 1 ? &t->processes[launch->process - 1] : NULL;

	*text = '\0';
	if (p && p->rank >= 0)
		snprintf(text, WARP_PROCESS_TEXT, "rank %" PRId32, p->rank);
	else if (p && p->pid)
		snprintf(text, WARP_PROCESS_TEXT, "pid %" PRIu32, p->pid);
}

void warp_trace_none_kept_text(const struct warp_trace *t, char text[WARP_NONE_KEPT_TEXT])
{
	snprintf(text, WARP_NONE_KEPT_TEXT,
		 "of %" PRIu64 " launch%s with scopes of warps none is kept", t->n_left_out,
		 t->n_left_out == 1 ? "" : "es");
}

int warp_trace_add_launch(struct warp_trace *t, const struct warp_trace_launch *launch)
{
	struct warp_trace_launch *added;

	if (ARRAY_ROOM(t->launches, t->cap_launches, t->n_launches + 1) < 0)
		return -ENOMEM;
	added = &t->launches[t->n_launches++];
	*added = *launch;
	added->warps = t->n_warps;
	added->n_warps = 0;
	return 0;
}

static bool is_sound(const struct warp_trace *t, const struct warp_trace_scope *scope, size_t i)
{
	return (scope->parent == WARP_TRACE_NO_PARENT || scope->parent < i) &&
	       scope->name < strtab_count(t->names);
}

int warp_trace_add_warp(struct warp_trace *t, const struct warp_trace_warp *warp,
			const struct warp_trace_scope *scopes, size_t n)
{
	struct warp_trace_warp *added;

	if (t->n_launches == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!is_sound(t, &scopes[i], i))
			return -EINVAL;
	if (ARRAY_ROOM(t->warps, t->cap_warps, t->n_warps + 1) < 0 ||
	    ARRAY_ROOM(t->scopes, t->cap_scopes, t->n_scopes + n) < 0)
		return -ENOMEM;
	added = &t->warps[t->n_warps++];
	*added = *warp;
	added->launch = (uint32_t)(t->n_launches - 1);
	added->scopes = t->n_scopes;
	added->n_scopes = n;
	if (n > 0)
		memcpy(&t->scopes[t->n_scopes], scopes, n * sizeof(*scopes));
	t->n_scopes += n;
	t->launches[t->n_launches - 1].n_warps++;
	return 0;
}

double warp_trace_cycle_ns(const struct warp_trace_warp *w)
{
	if (w->left_clock <= w->entered_clock || w->left_ns <= w->entered_ns)
		return 0;
	return (double)(w->left_ns - w->entered_ns) / (double)(w->left_clock - w->entered_clock);
}

/* Differences first: times since 1970 do not fit into a double's digits. */
double warp_trace_ns(const struct warp_trace_warp *w, uint64_t cycle, double cycle_ns,
		     uint64_t base_ns)
{
	return (double)(int64_t)(w->entered_ns - base_ns) +
	       (double)(int64_t)(cycle - w->entered_clock) * cycle_ns;
}

uint64_t warp_trace_first_cycle(const struct warp_trace *t, const struct warp_trace_warp *w)
{
	if (w->entered_clock || w->left_clock)
		return w->entered_clock;
	return w->n_scopes > 0 ? t->scopes[w->scopes].enter : 0;
}
