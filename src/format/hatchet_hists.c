/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/hatchet_hists.h"
#include "core/hist.h"
#include "format/hatchet_tables.h"

static int count_bin(struct hist *h, uint64_t ns, uint32_t n)
{
	return hist_count(h, hist_bin(ns), n);
}

/* Files before these have numbers of coarser buckets. */
static int count_bucket(struct hist *h, uint64_t bucket, uint32_t n)
{
	return bucket < HIST_OLD_BUCKETS ? hist_count_old(h, (unsigned)bucket, n) : 0;
}

/* [[at, executions], …] */
static int read_counts(struct hread *r, struct hist *h, size_t list,
		       int (*count)(struct hist *h, uint64_t at, uint32_t n))
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	if (!list || token_at(t, list) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		size_t first = token_first(at);
		uint64_t what;

		if (token_at(t, at) == TOKEN_ARRAY && token_u64(t, first, &what))
			ret = count(h, what, hread_u32(r, token_next(t, first), 0));
	}
	return ret;
}

int hread_bins(struct hread *r, struct hist *h, size_t list)
{
	return read_counts(r, h, list, count_bin);
}

int hread_old_buckets(struct hread *r, struct hist *h, size_t list)
{
	return read_counts(r, h, list, count_bucket);
}

struct hist *hread_hist(struct hread *r, uint32_t node, size_t map)
{
	uint32_t device = hread_u32(r, hread_find(r, map, KEY_DEVICE), SESSION_NONE);
	uint32_t process = hread_u32(r, hread_find(r, map, KEY_PROCESS), SESSION_NONE);

	return session_hist_of(r->s, node, hread_row_id(r, TABLE_DEVICES, device),
			       hread_row_id(r, TABLE_PROCESSES, process));
}
