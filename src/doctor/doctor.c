/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "doctor/doctor.h"
#include <stdlib.h>
#include <string.h>
#include "doctor/checks.h"

#define FOR(feature) (1u << DOCTOR_##feature)
#define GPU          (FOR(CUDA) | FOR(OPENCL))
#define COLLECTED    (GPU | FOR(NVTX))

/* In the order of what depends on what: a check may use what an earlier one found. */
/* clang-format off */
const struct doctor_check doctor_checks[] = {
	{"driver",          "nvidia",      FOR(CUDA),                check_driver},
	{"device-nodes",    "nvidia",      FOR(CUDA),                check_nodes},
	{"libcuda",         "nvidia",      FOR(CUDA),                check_libcuda},
	{"visible-devices", "nvidia",      FOR(CUDA),                check_visible},
	{"cupti",           "nvidia",      FOR(CUDA),                check_cupti},
	{"cupti-holders",   "nvidia",      0,                        check_holders},
	{"permissions",     "nvidia",      0,                        check_counters},
	{"metric-sets",     "nvidia",      0,                        check_metric_sets},
	{"counter-users",   "nvidia",      0,                        check_counting},
	{"counters",        "nvidia",      0,                        check_samples},
	{"ranges",          "nvidia",      0,                        check_ranges},
	{"pc-sampling",     "nvidia",      0,                        check_code},
	{"compute-mode",    "nvidia",      FOR(CUDA),                check_compute},
	{"mig",             "nvidia",      FOR(CUDA),                check_mig},
	{"mps",             "nvidia",      0,                        check_mps},
	{"vgpu",            "nvidia",      0,                        check_vgpu},
	{"opencl-loader",   "opencl",      FOR(OPENCL),              check_loader},
	{"opencl-layers",   "opencl",      FOR(OPENCL),              check_layers},
	{"opencl-devices",  "opencl",      FOR(OPENCL),              check_platforms},
	{"sensors",         "proton",      0,                        check_sensors},
	{"collector",       "proton",      COLLECTED,                check_collector},
	{"session-folder",  "proton",      COLLECTED | FOR(SAVING),  check_session},
	{"profile-folder",  "proton",      FOR(SAVING),              check_profile},
	{"config-folder",   "proton",      0,                        check_config},
	{"container",       "environment", FOR(CUDA),                check_container},
	{"cuda-injection",  "environment", FOR(CUDA),                check_injection},
	{"nvtx-injection",  "environment", FOR(NVTX),                check_nvtx},
	{"openmp-tool",     "environment", 0,                        check_openmp},
	{"preload",         "environment", 0,                        check_preload},
	{"variables",       "environment", 0,                        check_variables},
	{"terminal",        "terminal",    FOR(SCREEN),              check_terminal},
	{"size",            "terminal",    FOR(SCREEN),              check_size},
	{"characters",      "terminal",    0,                        check_characters},
	{"colors",          "terminal",    0,                        check_colors},
};
/* clang-format on */
const size_t doctor_n_checks = ARRAY_SIZE(doctor_checks);

struct doctor *doctor_new(const struct doctor_host *host, doctor_found_fn *found, void *ctx)
{
	struct doctor *d = calloc(1, sizeof(*d));

	if (d)
		d->findings = calloc(ARRAY_SIZE(doctor_checks), sizeof(*d->findings));
	if (!d || !d->findings)
		return doctor_free(d);
	d->host = host;
	for (size_t i = 0; i < ARRAY_SIZE(doctor_checks); i++) {
		doctor_checks[i].run(d, &d->findings[i]);
		if (found)
			found(ctx, &doctor_checks[i], &d->findings[i]);
	}
	return d;
}

struct doctor *doctor_free(struct doctor *d)
{
	if (!d)
		return NULL;
	for (size_t i = 0; d->findings && i < ARRAY_SIZE(doctor_checks); i++) {
		buf_done(&d->findings[i].seen);
		buf_done(&d->findings[i].why);
		buf_done(&d->findings[i].mend);
	}
	for (size_t i = 0; i < N_DOCTOR_QUESTIONS; i++)
		if (d->asked[i])
			probe_done(&d->answers[i]);
	for (size_t q = 0; q < ARRAY_SIZE(d->trials); q++)
		for (size_t i = 0; i < d->n_tried[q]; i++)
			probe_done(&d->trials[q][i]);
	free(d->findings);
	free(d);
	return NULL;
}

const struct doctor_finding *doctor_finding(const struct doctor *d, size_t i)
{
	return &d->findings[i];
}

const struct doctor_finding *doctor_find(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(doctor_checks); i++)
		if (!strcmp(doctor_checks[i].name, name))
			return &d->findings[i];
	return NULL;
}

enum doctor_state doctor_feature(const struct doctor *d, enum doctor_feature feature)
{
	enum doctor_state worst = DOCTOR_OK;

	for (size_t i = 0; i < ARRAY_SIZE(doctor_checks); i++) {
		enum doctor_state state = d->findings[i].state;

		if (!(doctor_checks[i].serves >> feature & 1))
			continue;
		if (state == DOCTOR_MISSING)
			return state;
		if (state == DOCTOR_UNKNOWN)
			worst = state;
	}
	return worst;
}

const char *doctor_feature_name(enum doctor_feature feature)
{
	static const char *const names[] = {
#define _(id, name, title) name,
		DOCTOR_FEATURES(_)
#undef _
	};

	return names[feature];
}

const char *doctor_feature_title(enum doctor_feature feature)
{
	static const char *const titles[] = {
#define _(id, name, title) title,
		DOCTOR_FEATURES(_)
#undef _
	};

	return titles[feature];
}
