/* SPDX-License-Identifier: MIT */
/* What it costs that steps know how much memory is held and what was copied (collect/step_ran.h), from the change to where a
 * step looks it up: bench/step_bytes N [ROUNDS]. It is paid by who settles memory and by the taker of intervals, never by a
 * thread that allocates or launches. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include "base/clock.h"
#include "base/util.h"
#include "by_turns.h"
#include "collect/idle.h"
#include "collect/internal.h"
#include "collect/step_ran.h"

enum {
	RUN = COPY_LANES_RUN,
	CHANGE_NS = 500, /* one a microsecond and two, in order */
	STEP = 64,       /* changes of a step, or copies */
};

static uint32_t n_changes;
static uint64_t now_ns;
static unsigned what; /* 0: --steps off; 2: with steps that end */
static struct step_work work;
static struct span run[RUN];
static struct copy_way way[RUN];

/* What the taker does behind some of them. */
static void settle(void)
{
	step_ran_held_until(now_ns);
	idle_settled(SOURCE_FAKE, now_ns);
	idle_look();
	step_ran_settle(true);
}

/* … and of each step in them. */
static void look_up(uint64_t from_ns)
{
	for (uint64_t ns = STEP * CHANGE_NS; from_ns + ns <= now_ns; from_ns += ns)
		step_ran_ended(&work,
			       &(struct step_ended){.start_ns = from_ns, .end_ns = from_ns + ns});
}

static void work_begins(unsigned of)
{
	struct span first;

	what = of;
	now_ns = MAX(now_ns, clock_realtime_ns()) + 1;
	first = (struct span){now_ns, now_ns + 1};
	collector->control->wanted.steps.kind = what ? 0 : STEPS_WANTED_OFF;
	idle_settled(SOURCE_FAKE, now_ns);
	idle_look();
	step_ran_forked();
	step_ran_add(0, &first, 1);
	settle();
}

static void hold(void)
{
	for (uint32_t i = 0; i < n_changes; i += RUN) {
		uint64_t from_ns = now_ns;

		for (uint32_t k = 0; k < RUN; k++)
			step_ran_held(now_ns += CHANGE_NS, (uint64_t)(i + k) << 12);
		settle();
		if (what > 1)
			look_up(from_ns);
		step_ran_forget();
	}
}

static void copy(void)
{
	for (uint32_t i = 0; i < n_changes; i += RUN) {
		uint64_t from_ns = now_ns;

		for (uint32_t k = 0; k < RUN; k++, now_ns += CHANGE_NS) {
			run[k] = (struct span){now_ns, now_ns + CHANGE_NS / 2};
			way[k] = (struct copy_way){
				.is_copy = true, .direction = COPY_HOST_TO_DEVICE, .bytes = 4096};
		}
		step_ran_copied(0, run, way, RUN);
		settle();
		if (what > 1)
			look_up(from_ns);
		step_ran_forget();
	}
}

static const struct way ways[] = {
	{"a change of memory, steps off", hold, work_begins, 0},
	{"a change of memory", hold, work_begins, 1},
	{"a change of memory, a step in 64", hold, work_begins, 2},
	{"a copy, steps off", copy, work_begins, 0},
	{"a copy", copy, work_begins, 1},
	{"a copy, a step in 64", copy, work_begins, 2},
};

int main(int argc, char **argv)
{
	static struct collector c;
	static struct control_page control;
	unsigned rounds;

	if (!by_turns_options(argc, argv, &n_changes, &rounds))
		return 2;
	n_changes -= n_changes % RUN;
	c.control = &control;
	c.device[0].source = SOURCE_FAKE;
	collector = &c;
	by_turns(ways, ARRAY_SIZE(ways), rounds, n_changes);
	if (work.moved.of[STEP_TOTAL_LIVE].n < n_changes / STEP)
		fputs("steps knew nothing of it\n", stderr);
	return work.moved.of[STEP_TOTAL_LIVE].n < n_changes / STEP;
}
