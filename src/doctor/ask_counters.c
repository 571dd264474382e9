/* SPDX-License-Identifier: MIT */
/* In how many passes the device here counts each set of hardware metrics: asked by a child, as all that
 * opens NVIDIA's libraries. */
#include "config.h" // IWYU pragma: keep
#include "counters/ask.h"
#include "counters/metric_set.h"
#include "doctor/asks.h"

static void tell_set(const struct cupti_host *host, const char *chip_name,
		     const struct metric_set *set, int fd)
{
	struct cupti_chip chip;
	struct plan plan;

	probe_tell(fd, "stage %s, asked for the passes of '%s',", host->path, set->name);
	if (cupti_chip_open(&host->api, chip_name, set->counting, &chip))
		return;
	if (counters_host_plan(&chip, set, &plan) == 0)
		probe_tell(fd, "set %zu %zu %zu %s", plan.passes, plan.n_counted, plan.n,
			   set->name);
	plan_done(&plan);
	cupti_chip_close(&chip);
}

void ask_counters(const void *ctx, int fd)
{
	struct counters_host h;
	struct metric_set *set;
	const char *name;

	(void)ctx;
	if (!counters_host_open(&h, NULL, COUNTING_RANGE, fd))
		return;
	for (unsigned i = 0; (name = metric_set_name(i)); i++) {
		if (metric_set_find(name, &set) < 0)
			continue;
		tell_set(&h.host, h.chip.name, set, fd);
		metric_set_free(set);
	}
}
