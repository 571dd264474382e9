/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "doctor/questions.h"
#include "counters/trial.h"
#include "doctor/asks.h"
#include "launch/session_dir.h"

enum {
	DEADLINE_MS = 5000,
	TRIAL_MS = 15000,    /* starts the driver, makes a context, and counts; */
	BESIDE_MS = 1000,    /* one more for each device that is tried beside it */
	MEASURE_MS = 120000, /* a second or two a device, more where others use them */
};

static const unsigned deadlines_ms[N_DOCTOR_QUESTIONS] = {[ASK_SAMPLES] = TRIAL_MS,
							  [ASK_RANGES] = TRIAL_MS,
							  [ASK_CODE] = TRIAL_MS,
							  [ASK_MEASURE] = MEASURE_MS};

static probe_fn *const askers[N_DOCTOR_QUESTIONS] = {
	[ASK_DRIVER] = ask_driver,     [ASK_COLLECTOR] = ask_collector,
	[ASK_RUN] = ask_run,           [ASK_CUPTI] = ask_cupti,
	[ASK_NVML] = ask_nvml,         [ASK_AMDSMI] = ask_amdsmi,
	[ASK_OPENCL] = ask_opencl,     [ASK_HOLDERS] = ask_holders,
	[ASK_FOLDERS] = ask_folders,   [ASK_MEASURE] = ask_measure,
	[ASK_COUNTERS] = ask_counters, [ASK_SAMPLES] = trial_counters,
	[ASK_RANGES] = trial_ranges,   [ASK_CODE] = trial_code,
};

/* The children that make a session directory may die in it: what they leave is swept here. */
void question_ask(const struct doctor_host *host, int question, struct probe *ret_answer)
{
	unsigned ms = deadlines_ms[question];

	probe_run(askers[question], host, ms ? ms : DEADLINE_MS, ret_answer);
	if (ret_answer->end != PROBE_ANSWERED)
		session_dir_sweep();
}

void question_ask_devices(const struct doctor_host *host, int question, size_t n,
			  struct probe ret_answers[])
{
	uint32_t place[PROBES_MAX];
	const void *ctx[PROBES_MAX];

	(void)host;
	for (uint32_t i = 0; i < n; i++) {
		place[i] = i;
		ctx[i] = &place[i];
	}
	probe_run_all(askers[question], ctx, n,
		      deadlines_ms[question] + (unsigned)(n - 1) * BESIDE_MS, ret_answers);
}
