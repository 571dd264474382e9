/* SPDX-License-Identifier: MIT */
#ifndef PROTON_DOCTOR_QUESTIONS_H
#define PROTON_DOCTOR_QUESTIONS_H
/* What is asked by a child, because it opens a library of a vendor, or files that may be on a disk
 * which does not answer. No question but MEASURE, RANGES and CODE makes a GPU context.
 *
 *   DRIVER     libcuda.so.1: does it load and start, which CUDA, which devices
 *              path, init RESULT, version 13000, devices N, device NAME …
 *   COLLECTOR  libproton.so: does it load and take up a session of this program
 *              error TEXT, active 1
 *   RUN        all of a run but the program: a session, the variables, cuInit; who holds CUPTI then
 *              connected 1, holder RESULT NAME, cupti VERSION PATH
 *   CUPTI      each libcupti that a run would try, in order, up to the one that works
 *              found VERSION PATH …, tried RESULT VERSION PATH …, broken TEXT …
 *   COUNTERS   the libcupti that knows hardware metrics: the chip of the first device, passes of each set
 *              chip NAME, set PASSES N_COUNTED N NAME …; why not: no-gpu, failed, no-chip, broken (counters/asker.h)
 *   SAMPLES    do a device's counters count: by PM sampling …
 *   RANGES     … between two points of a context …
 *   CODE       … where in their code kernels are: counters/trial.h has the lines of all three, asked of each device
 *   NVML       libnvidia-ml.so.1: modes of the devices
 *              path, init RESULT, device MIG VIRTUAL COMPUTE NAME …, with - for what is not told
 *   AMDSMI     libamd_smi.so: does it start, how many GPUs
 *              path, init RESULT, version MAJOR TEXT, devices N
 *   OPENCL     libOpenCL.so.1 with our layer: does it call layers, which platforms
 *              path, loader TEXT, layers 0|1, platforms RESULT, platform N_DEVICES NAME …
 *   HOLDERS    processes that have a libcupti in memory: holder PID OURS NAME PATH …, unread N; and those that may have hardware counters: counting PID NAME …
 *   FOLDERS    session PATH, profile FREE_BYTES PATH, config PATH, each with …-error TEXT instead
 *   MEASURE    how fast links and memory of the devices are: only where --measure asks
 *              measured UUID RATE… NAME (bytes a second, by enum peak_measured), unmeasured TEXT, error TEXT
 *
 *   errors  the end of the probe */
#include "doctor/doctor.h"
#include "launch/probe.h"

enum doctor_question {
	ASK_DRIVER,
	ASK_COLLECTOR,
	ASK_RUN,
	ASK_CUPTI,
	ASK_COUNTERS,
	ASK_SAMPLES,
	ASK_RANGES,
	ASK_CODE,
	ASK_NVML,
	ASK_AMDSMI,
	ASK_OPENCL,
	ASK_HOLDERS,
	ASK_FOLDERS,
	ASK_MEASURE,
	N_DOCTOR_QUESTIONS
};

/* Of these, those of each device: ASK_SAMPLES and what follows it. */
enum { N_DOCTOR_TRIALS = ASK_CODE - ASK_SAMPLES + 1 };

/* What CUPTI answers to who subscribes, or counts. */
enum cupti_answer {
	CUPTI_WORKS = 0,
	CUPTI_UNINITIALIZED = 15, /* also: the driver is older than it */
	CUPTI_BUSY = 26,          /* of counters: another tool has them */
	CUPTI_NO_PRIVILEGE = 35,
	CUPTI_HELD = 39,
	CUPTI_NO_PRIVILEGE_VIRTUAL = 40,
};
#define CUPTI_OF_CUDA_11 13u /* cuptiGetVersion() */

/* The askers of a real machine (struct doctor_host). n: at most PROBES_MAX, which are asked at once. */
void question_ask(const struct doctor_host *host, int question, struct probe *ret_answer);
void question_ask_devices(const struct doctor_host *host, int question, size_t n,
			  struct probe ret_answers[]);

#endif
