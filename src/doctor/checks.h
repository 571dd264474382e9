/* SPDX-License-Identifier: MIT */
#ifndef PROTON_DOCTOR_CHECKS_H
#define PROTON_DOCTOR_CHECKS_H
/* The checks (the table is in doctor.c), and what they share. A check fills a finding that is
 * DOCTOR_OK and empty when it begins. */
#include "doctor/doctor.h"
#include "doctor/questions.h"
#include "doctor/view.h"

struct doctor {
	const struct doctor_host *host;
	struct doctor_finding *findings; /* of doctor_checks */
	struct probe answers[N_DOCTOR_QUESTIONS];
	bool asked[N_DOCTOR_QUESTIONS];
	/* Of questions of each device. */
	struct probe trials[N_DOCTOR_TRIALS][PROBES_MAX];
	size_t n_tried[N_DOCTOR_TRIALS];
	bool has_driver;   /* NVIDIA's, as far as is seen: else libraries need not work */
	long driver_major; /* 580; 0: not told */
};

/* The answer to a question, which is asked once. */
static inline const struct probe *doctor_ask(struct doctor *d, enum doctor_question q)
{
	if (!d->asked[q])
		d->host->ask(d->host, q, &d->answers[q]);
	d->asked[q] = true;
	return &d->answers[q];
}

/* Numbers of CUDA: 13000 is 13.0. */
static inline int cuda_major(long version)
{
	return (int)(version / 1000);
}
static inline int cuda_minor(long version)
{
	return (int)(version % 1000 / 10);
}

/* "nv-hostengine (pid 812), ncu (pid 913)": who may have the counters; how many. */
unsigned say_counter_users(struct doctor *d, struct buf *out); /* counters.c */
/* Why no libcupti counted, of what was told to that question. */
void say_no_counters(const struct probe *p, struct buf *out); /* counters.c */
/* Does CUDA start here, with a device? */
bool has_gpu(struct doctor *d); /* counters.c */

/* The line that permits counters to all users. */
void mend_privilege(struct buf *mend); /* cuda.c */

doctor_check_fn check_driver, check_nodes, check_counters, check_mps; /* nvidia.c */
doctor_check_fn check_libcuda, check_cupti;                           /* cuda.c */
doctor_check_fn check_mig, check_vgpu, check_compute;                 /* modes.c */
doctor_check_fn check_collector, check_injection, check_nvtx, check_openmp,
	check_preload;                                                          /* collector.c */
doctor_check_fn check_container, check_visible, check_variables, check_holders; /* process.c */
doctor_check_fn check_loader, check_layers, check_platforms;                    /* opencl.c */
doctor_check_fn check_metric_sets, check_counting;                              /* counters.c */
doctor_check_fn check_samples, check_ranges, check_code;                        /* trials.c */
doctor_check_fn check_sensors;                                                  /* sensors.c */
doctor_check_fn check_terminal, check_size, check_characters, check_colors;     /* terminal.c */
doctor_check_fn check_session, check_profile, check_config;                     /* folders.c */

#endif
