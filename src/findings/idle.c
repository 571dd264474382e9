/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include "base/human.h"
#include "core/host.h"
#include "findings/rules.h"

#define IDLE_SHARE 0.3 /* of the time in which it is used, from which it is worth a word */
/* A raw launch costs 2 us; PyTorch's operators take 5 and more. */
#define LAUNCH_NS 5000

double evidence_idle(const struct evidence *e, uint32_t device)
{
	double busy = session_busy_ns(e->s, device), idle = e->used_ns - busy;
	bool is_known =
		e->wall_ns > 0 && busy > 0 && idle >= e->blur_ns && !evidence_is_shared(e, device);

	return is_known && evidence_matters(e, idle) && idle >= IDLE_SHARE * e->used_ns ? idle : 0;
}

double evidence_launching(const struct evidence *e, uint32_t device)
{
	return e->devices[device].count * e->launches_ratio * LAUNCH_NS;
}

#define WHY                                                                                        \
	"Neither kernels nor their launches take that time: the program loads data, computes on "  \
	"the CPU or waits for others. "
#define REMEDY "prefetch data, do it in other threads, send more work at a time."

/* Where to look: in what the profile has, and by what a run of ours could have. */
static const char *advice(const struct session *s)
{
	bool is_ours = session_losses_known(s);

	if (session_has_values(s, METRIC_CPU_TIME))
		return is_ours && !host_has_wait(s) ? WHY
			       "The panel Host shows where, and what waits if recorded with "
			       "--sync; " REMEDY
						    : WHY "The panel Host shows where; " REMEDY;
	return is_ours ? WHY "Scopes in the program, and --sync, show where; " REMEDY
		       : WHY "Where is not in this profile; " REMEDY;
}

/* "9.44s", or where it is known to some tenths of a second "9.44s to 9.64s". */
static void put_used(const struct evidence *e, char *out, size_t size)
{
	char least[HUMAN_MAX], most[HUMAN_MAX];

	human_time_ns(least, e->used_ns);
	human_time_ns(most, e->used_ns + e->blur_ns);
	snprintf(out, size, "%s%s%s", least, e->blur_ns > 0 ? " to " : "",
		 e->blur_ns > 0 ? most : "");
}

/* The device waits, and launches do not explain it. */
static int find(const struct evidence *e, struct findings *f)
{
	char idle_text[HUMAN_MAX], used[2 * HUMAN_MAX + 8];

	for (uint32_t i = 0; i < e->s->n_devices; i++) {
		double idle = evidence_idle(e, i);
		struct finding *finding;

		if (!(idle > 0) || evidence_launching(e, i) >= idle / 2)
			continue;
		finding = finding_add(f, FINDING_IDLE, FINDING_LIKELY, idle);
		if (!finding)
			return -ENOMEM;
		finding->device = i;
		finding->advice = advice(e->s);
		human_time_ns(idle_text, idle);
		put_used(e, used, sizeof(used));
		finding_say(finding, "idle for %s%s of the %s %s", idle_text,
			    e->blur_ns > 0 ? " or more" : "", used,
			    e->has_work_times ? "between the first and the last work"
					      : "that the run took");
	}
	return 0;
}

const struct rule rule_IDLE = {
	.title = "the GPU waits for the host",
	.advice = WHY "To mend it, " REMEDY,
	.find = find,
};
