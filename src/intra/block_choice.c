/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/block_choice.h"
#include <errno.h>
#include <string.h>
#include "base/hash.h"
#include "intra/warp_file.h"

enum { HALVED_MOST = 63 };

int block_choice_init(struct block_choice *s, uint64_t bytes_most)
{
	static const struct warp_trace_launch launch;

	*s = (struct block_choice){.bytes_most = bytes_most};
	if (warp_trace_init(&s->trace) == 0 && warp_trace_add_launch(&s->trace, &launch) == 0)
		return 0;
	block_choice_done(s);
	return -ENOMEM;
}

void block_choice_done(struct block_choice *s)
{
	warp_trace_done(&s->trace);
}

bool block_choice_leaves_out(const struct block_choice *s, uint64_t block)
{
	return hash_u64(block) & ((UINT64_C(1) << s->n_halved) - 1);
}

static uint64_t bytes_of(size_t n_scopes)
{
	return sizeof(struct warp_file_warp) + n_scopes * sizeof(struct warp_file_scope);
}

/* Of what is there, with the blocks that are left out by now. */
static void leave_out(struct block_choice *s)
{
	struct warp_trace *t = &s->trace;
	size_t n_warps = 0, n_scopes = 0;

	s->bytes = 0;
	for (size_t i = 0; i < t->n_warps; i++) {
		struct warp_trace_warp w = t->warps[i];

		if (block_choice_leaves_out(s, w.block))
			continue;
		memmove(&t->scopes[n_scopes], &t->scopes[w.scopes],
			w.n_scopes * sizeof(*t->scopes));
		w.scopes = n_scopes;
		n_scopes += w.n_scopes;
		s->bytes += bytes_of(w.n_scopes);
		t->warps[n_warps++] = w;
	}
	t->launches->n_warps = t->n_warps = n_warps;
	t->n_scopes = n_scopes;
}

int block_choice_add(struct block_choice *s, const struct warp_trace_warp *warp,
		     const struct warp_trace_scope *scopes, size_t n)
{
	int r;

	if (block_choice_leaves_out(s, warp->block))
		return 0;
	r = warp_trace_add_warp(&s->trace, warp, scopes, n);
	if (r < 0)
		return r;
	s->bytes += bytes_of(n);
	while (s->bytes > s->bytes_most && s->n_halved < HALVED_MOST) {
		s->n_halved++;
		leave_out(s);
	}
	return 0;
}
