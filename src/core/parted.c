/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/parted.h"

bool parted_metric(const struct session *s, uint32_t metric)
{
	static const bool is_of_all[METRIC_N_BUILTIN] = {
		[METRIC_BYTES] = true,   [METRIC_FLOPS] = true,   [METRIC_FLOPS8] = true,
		[METRIC_FLOPS16] = true, [METRIC_FLOPS32] = true, [METRIC_FLOPS64] = true};
	const struct metric *m = metric_table_get(s->metrics, metric);

	if (metric < METRIC_N_BUILTIN)
		return is_of_all[metric];
	return m && m->type != METRIC_TEXT && m->scope == METRIC_INCLUSIVE;
}

/* A flag while it is computed. */
enum { ABOVE = 2 };

void parted_above(const uint32_t *parents, uint32_t n, uint8_t *parted)
{
	for (uint32_t i = n; i-- > 1;)
		if (parted[i])
			parted[parents[i]] |= ABOVE;
	for (uint32_t i = 0; i < n; i++)
		parted[i] = (parted[i] & ABOVE) != 0;
}
