/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a ring that warps wrote into (intra/warp_slices.h), read as the collector does. The first two bytes say where.
 * The corpus is tests/fuzz/corpus_slices. */
#include "config.h" // IWYU pragma: keep

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "intra/record_cost.h"
#include "intra/warp_events.h"

enum { RING = 4096, HEAD_SUM = 72 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Parents come first, and points are in scopes that are there. */
static void must_be_whole(const struct warp_slice *slice, const struct warp_contents *warp)
{
	must(warp->n_scopes + warp->n_points + warp->n_sums <= slice->n_units);
	for (size_t i = 0; i < warp->n_scopes; i++)
		must(warp->scopes[i].parent == UINT32_MAX || warp->scopes[i].parent < i);
	for (size_t i = 0; i < warp->n_points; i++)
		must(warp->points[i].parent == UINT32_MAX ||
		     warp->points[i].parent < warp->n_scopes);
	for (size_t i = 0; i < warp->n_sums; i++)
		must(warp->sums[i].parent == UINT32_MAX || warp->sums[i].parent < i);
}

static void add_up(const struct warp_slice *slice, struct warp_contents *warp)
{
	const struct record_cost cost = {8, 21};
	struct warp_events events = {.n = 0};
	struct scope_sums sums;

	must(scope_sums_init(&sums) == 0 && scope_sums_add_warp(&sums, warp) == 0);
	must(warp_events_add(&events, slice, warp) == 0);
	must(warp_events_join(&events, &sums) >= 0);
	must(record_cost_take(&cost, warp) == 0);
	for (size_t i = 1; i < sums.n; i++)
		must(sums.items[i].parent < i);
	warp_events_done(&events);
	scope_sums_done(&sums);
}

/* Every sum is right here, else hardly any slice would be read. */
static void mend(char *bytes, uint64_t at, uint32_t n)
{
	static const uint32_t of_pair[] = {1, 3}, of_unit[] = {1, 3, 5, 7};
	const uint64_t first = at + 1;
	uint32_t sum = 3 * warp_word(bytes + at, WARP_SLICE_HEAD / 4 - 1);

	for (uint32_t i = 2; i < n / 4; i++)
		if (i < HEAD_SUM / 4)
			sum += of_pair[i % 2] * warp_word(bytes + at, i);
		else if (i >= WARP_SLICE_HEAD / 4)
			sum += of_unit[i % 4] * warp_word(bytes + at, i);
	memcpy(bytes + at + HEAD_SUM, &sum, sizeof(sum));
	memcpy(bytes + at, &first, sizeof(first));
}

static void mend_lone(char *bytes, uint64_t at)
{
	static const uint32_t of_part[] = {WARP_LONE_WEIGHT, 3, 5, 7};
	const uint64_t first = at + 1;
	uint32_t sum = 0;

	memcpy(bytes + at, &first, sizeof(first));
	for (uint32_t i = 0; i < WARP_SLICE_LONE / 4; i++)
		sum += i == 3 ? 0 : of_part[i % 4] * warp_word(bytes + at, i);
	memcpy(bytes + at + 12, &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char bytes[RING];
	const struct warp_ring ring = {bytes, RING};
	struct warp_losses losses = {0};
	struct warp_contents warp;
	struct warp_slice slice;
	uint64_t at = 0;
	uint32_t n;

	if (len < 2)
		return 0;
	memset(bytes, 0, RING);
	memcpy(bytes, data + 2, MIN(len - 2, (size_t)RING));
	at = (data[0] | (uint32_t)data[1] << 8) % RING & ~7u;
	n = warp_word(bytes, (at + 8) % RING / 4);
	if (n & WARP_SLICE_IS_LONE && at + WARP_SLICE_LONE <= RING)
		mend_lone(bytes, at);
	else if (at + WARP_SLICE_HEAD <= RING && n <= RING - at)
		mend(bytes, at, n);
	if (!warp_slice_read(&ring, at, &slice))
		return 0;
	must(warp_slice_decode(&ring, at, &slice, &warp, &losses) == 0);
	must_be_whole(&slice, &warp);
	add_up(&slice, &warp);
	warp_contents_done(&warp);
	return 0;
}
