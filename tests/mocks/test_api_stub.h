/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_TEST_API_STUB_H
#define PROTON_TESTS_TEST_API_STUB_H
/* A collector that writes down what it is told, one line a call. It is a shared library with the
 * exports of libproton.so, opened by the doors under test; the test asks it by dlsym(). With
 * PROTON_STUB_OUT=FILE it writes what it counted there at exit, as "name=value" lines. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"

#define STUB_RECORDS 65536

struct stub_record {
	struct activity activity;
	char name[64];
};

struct stub {
	char log[1 << 16];
	size_t log_len;
	bool quiet;  /* count, but write no lines */
	bool refuse; /* collect_start() fails; set by PROTON_STUB_REFUSE */
	uint64_t n_pushes, n_pops;
	uint64_t n_launches, n_unlaunches, n_losses[LOSS_N];
	uint32_t n_records, n_devices;
	struct device_info device;
	char device_name[128], note[512];
	void (*check_loader)(void);
	void (*flush)(void); /* of the OpenCL backend, as at exit */
	struct stub_record records[STUB_RECORDS];
};

/* dlsym(handle, "stub_get") */
typedef struct stub *stub_get_fn(void);

#endif
