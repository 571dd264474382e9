/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "core/host.h"
#include "core/idle.h"
#include "findings/rules.h"

#define IDLE_SHARE 0.3 /* of the time in which it is used, from which it is worth a word */
/* A raw launch costs 2 us; PyTorch's operators take 5 and more. */
#define LAUNCH_NS 5000

/* What is known of the gaps of a device; false: nothing, or of too little of its idle time. */
static bool is_told(const struct idle *of, uint32_t device, double idle)
{
	return of && of[device].ns >= idle / 2;
}

double evidence_idle(const struct evidence *e, uint32_t device)
{
	double busy = session_busy_ns(e->s, device),
	       idle = e->used_ns - busy - e->devices[device].idle_in_graphs_ns;
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

/* ---- why, where that was recorded ---- */

/* Parts of gaps that an advice of their own is for. */
static const struct {
	enum gap_part part;
	const char *word, *advice;
} reasons[] = {
	{GAP_LATE, "the host was late", NULL},
	{GAP_SYNC, "it had waited for the GPU",
	 "The host waits until the GPU is done before it launches more: wait only where a result is "
	 "needed (.item(), .cpu() and print() of a tensor wait, too), and launch the next work first."},
	{GAP_COPY, "it was in copies that block",
	 "The host waits in copies before it launches more: copy from pinned memory, asynchronously "
	 "(pin_memory=True, non_blocking=True), and launch what does not need it first."},
	{GAP_LAUNCH, "launches took",
	 "The GPU has nothing queued when a launch comes: launch ahead, capture many launches in one "
	 "CUDA graph, or give each more work."},
	{GAP_QUEUED, "work was launched, and waited for something else",
	 "What was launched did not start: it waited for a function on the host, another device, or "
	 "an allocation in its stream. The panel Devices shows whose work it was."},
};

/* The largest of the reasons. */
static unsigned main_reason(const struct idle *d)
{
	unsigned best = 0;
	double ns = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (!(d->parts[reasons[i].part] > ns))
			continue;
		ns = d->parts[reasons[i].part];
		best = i;
	}
	return best;
}

static void say_reasons(struct finding *finding, const struct idle *d)
{
	const char *before = ": ";
	char text[HUMAN_MAX];

	for (unsigned i = 0; i < ARRAY_SIZE(reasons); i++) {
		double ns = d->parts[reasons[i].part];

		if (!(ns >= d->ns / 20))
			continue;
		human_time_ns(text, ns);
		finding_say(finding, "%s%s %s", before, reasons[i].word, text);
		before = ", ";
	}
}

/* Whose work a device waited for. */
static void name_contexts(const struct evidence *e, uint32_t device, struct finding *finding)
{
	struct most most = {.n = 0};

	for (size_t i = 0; i < e->n_own; i++) {
		double ns = evidence_sum_on(e, e->own[i].node, METRIC_IDLE, device);

		if (ns > 0)
			most_insert(&most, e->own[i].node, ns);
	}
	finding_name_most(finding, &most);
}

static void explain(const struct evidence *e, uint32_t device, const struct idle *d,
		    struct finding *finding)
{
	unsigned reason = main_reason(d);

	if (reasons[reason].advice)
		finding->advice = reasons[reason].advice;
	say_reasons(finding, d);
	name_contexts(e, device, finding);
}

/* Is it what the rule about launches tells? */
static bool is_launching(const struct evidence *e, uint32_t device)
{
	return evidence_launching(e, device) >= evidence_idle(e, device) / 2;
}

/* By the times of the run, which are not known better than that. */
static void say_idle(const struct evidence *e, struct finding *finding, double idle)
{
	char idle_text[HUMAN_MAX], used[2 * HUMAN_MAX + 8];

	human_time_ns(idle_text, idle);
	put_used(e, used, sizeof(used));
	finding_say(finding, "idle for %s%s of the %s %s", idle_text,
		    e->blur_ns > 0 ? " or more" : "", used,
		    e->has_work_times ? "between the first and the last work"
				      : "that the run took");
}

/* By the gaps themselves. */
static void say_gaps(struct finding *finding, double idle)
{
	char idle_text[HUMAN_MAX];

	human_time_ns(idle_text, idle);
	finding_say(finding, "idle for %s between its first and its last work", idle_text);
}

static int find_on(const struct evidence *e, uint32_t device, const struct idle *of,
		   struct findings *f)
{
	double idle = evidence_idle(e, device);
	bool has_gaps = is_told(of, device, idle) && of[device].ns >= idle;
	struct finding *finding;

	if (!(idle > 0) || is_launching(e, device))
		return 0;
	if (has_gaps)
		idle = of[device].ns;
	finding = finding_add(f, FINDING_IDLE, has_gaps ? FINDING_MEASURED : FINDING_LIKELY, idle);
	if (!finding)
		return -ENOMEM;
	finding->device = device;
	finding->advice = advice(e->s);
	if (has_gaps)
		say_gaps(finding, idle);
	else
		say_idle(e, finding, idle);
	if (is_told(of, device, idle))
		explain(e, device, &of[device], finding);
	return 0;
}

/* The device waits, and launches do not explain it. */
static int find(const struct evidence *e, struct findings *f)
{
	_cleanup_(freep) struct idle *of = idle_new(e->s);
	int r = 0;

	for (uint32_t i = 0; i < e->s->n_devices && r == 0; i++)
		r = find_on(e, i, of, f);
	return r;
}

const struct rule rule_IDLE = {
	.title = "the GPU waits for the host",
	.advice = WHY "To mend it, " REMEDY,
	.find = find,
	.is_of_times = true,
};
