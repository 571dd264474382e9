/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_CHIP_H
#define PROTON_BACKENDS_CUPTI_CHIP_H
/* What a libcupti that is loaded says of a chip's hardware counters: which metrics there are, in how many passes they are
 * counted, and the image that programs a device to count them.
 *
 *   errors  -errno, or a result of CUPTI, which is above 0
 *   thread  one a chip */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/cupti_host_abi.h"

/* Who counts: around kernels or ranges of them, which run as often as there are passes; or the whole
 * device again and again, in one pass. */
enum counting_kind {
	COUNTING_RANGE = ABI_PROFILER_RANGE,
	COUNTING_PM = ABI_PROFILER_PM_SAMPLING,
	N_COUNTINGS
};
extern const char *const counting_words[N_COUNTINGS];  /* of options: "range" */
extern const char *const counting_titles[N_COUNTINGS]; /* "range profiler" */

/* False: this library is older than CUDA 12.6. */
bool cupti_host_bind(void *library, struct cupti_host_api *ret);

/* Names belong to the library. */
int cupti_host_chips(const struct cupti_host_api *api, const char *const **ret_names,
		     size_t *ret_n);
/* Of a device of this machine, which needs its driver: cuInit() must have succeeded. */
int cupti_host_device_chip(const struct cupti_host_api *api, size_t device, const char **ret_name);

/* The metrics of a chip. */
struct cupti_chip {
	const struct cupti_host_api *api;
	const char *name;
	enum counting_kind counting;
	const uint8_t *availability; /* NULL: all that the chip has */
	void *object;
};
/* The name is borrowed. */
int cupti_chip_open(const struct cupti_host_api *api, const char *name, enum counting_kind counting,
		    struct cupti_chip *ret);
/* The same on a device that may not have all of them: borrowed. */
int cupti_chip_open_on(const struct cupti_host_api *api, const char *name,
		       enum counting_kind counting, const uint8_t *availability,
		       struct cupti_chip *ret);
void cupti_chip_close(struct cupti_chip *c);

struct cupti_metric {
	enum abi_metric_type type;
	const char *description, *hardware, *unit; /* "" where nothing is known */
};
/* The base metrics of a type; names live as long as the chip is open. */
int cupti_chip_metrics(const struct cupti_chip *c, enum abi_metric_type type,
		       const char ***ret_names, size_t *ret_n);
/* What can stand behind a base metric. */
int cupti_chip_submetrics(const struct cupti_chip *c, enum abi_metric_type type, const char *name,
			  const char ***ret_names, size_t *ret_n);
/* ABI_HOST_BAD_NAME: this chip has no such metric, or not with this behind it. */
int cupti_chip_metric(const struct cupti_chip *c, const char *name, struct cupti_metric *ret);

/* How often what is counted must run for all of these metrics together; each has a submetric. */
int cupti_chip_passes(const struct cupti_chip *c, const char *const *names, size_t n,
		      size_t *ret_passes);

/* Add metrics to what the chip was opened for, and make the image that programs the counters. free() it. */
int cupti_chip_image(const struct cupti_chip *c, const char *const *names, size_t n,
		     uint8_t **ret_image, size_t *ret_bytes);

/* The submetric by which a type is asked for its passes when none is named: ".sum". */
const char *cupti_usual_submetric(enum abi_metric_type type);

#endif
