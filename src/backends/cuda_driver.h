/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUDA_DRIVER_H
#define PROTON_BACKENDS_CUDA_DRIVER_H
/* Functions of the CUDA driver that the program has loaded, which is never loaded for our sake. */
#include <stdbool.h>
#include <stddef.h>

struct cuda_function {
	const char *name;
	size_t offset; /* of the pointer to it, in a struct of them */
	bool is_needed;
};

/* The pointers in *api; NULL: this driver has no such function. False: there is no driver, and they stay; or it has not all
 * that are needed.
 *   thread  any */
bool cuda_driver_bind(void *api, const struct cuda_function *functions, size_t n);

/* How many calls of ours this thread is in: what is called within them is not the program's. */
extern __thread unsigned cuda_driver_ours __attribute__((tls_model("initial-exec")));

#endif
