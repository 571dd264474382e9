/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "doctor/questions.h"
#include "doctor/asks.h"
#include "launch/session_dir.h"

#define DEADLINE_MS 5000
#define MEASURE_MS  120000 /* a second or two a device, more where others use them */

static probe_fn *const askers[N_DOCTOR_QUESTIONS] = {
	[ASK_DRIVER] = ask_driver,   [ASK_COLLECTOR] = ask_collector, [ASK_RUN] = ask_run,
	[ASK_CUPTI] = ask_cupti,     [ASK_NVML] = ask_nvml,           [ASK_AMDSMI] = ask_amdsmi,
	[ASK_OPENCL] = ask_opencl,   [ASK_HOLDERS] = ask_holders,     [ASK_FOLDERS] = ask_folders,
	[ASK_MEASURE] = ask_measure, [ASK_COUNTERS] = ask_counters,
};

/* The children that make a session directory may die in it: what they leave is swept here. */
void question_ask(const struct doctor_host *host, int question, struct probe *ret_answer)
{
	probe_run(askers[question], host, question == ASK_MEASURE ? MEASURE_MS : DEADLINE_MS,
		  ret_answer);
	if (ret_answer->end != PROBE_ANSWERED)
		session_dir_sweep();
}
