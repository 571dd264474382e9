/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_DRIVER_H
#define PROTON_COUNTERS_DRIVER_H
/* The devices that NVIDIA's driver shows to this process: one that may die of it.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "backends/cuda_uuid.h"

struct driver_device {
	char uuid[CUDA_UUID_TEXT], name[64]; /* "": it does not tell */
};

/* driver: of asker_start_driver(). */
uint32_t driver_n_devices(void *driver);
void driver_device(void *driver, uint32_t i, struct driver_device *ret);
/* Make the primary context of a device the thread's, and hold it until driver_put_context(). Not where the device admits
 * one process at a time: ours would keep others out. NULL: *ret_why, a constant; result: of the driver, 0: none. */
void *driver_context(void *driver, uint32_t i, const char **ret_why, int *ret_result);
void driver_put_context(void *driver, uint32_t i);
/* Devices that are named by their place in the machine are all shown, in the order of nvidia-smi: say so before the
 * driver is started. */
void driver_show_all(void);

#endif
