/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TORCH_LIBRARY_H
#define PROTON_COLLECT_TORCH_LIBRARY_H
/* What is used of PyTorch's library for the processor (torch_abi.h), and where its records of operators keep what
 * no function tells. */
#include <stdbool.h>
#include <stdint.h>
#include "collect/torch_abi.h"

struct torch_library {
#define _(type, name, arguments, symbol) type(*name) arguments;
	TORCH_FUNCTIONS(_)
	TORCH_OWN_RECORDS(_)
#undef _
	unsigned sequence, forward_thread; /* offsets in a record; 0: not known */
};
extern struct torch_library torch __attribute__((visibility("hidden")));

/* Is it known what a record makes, or is made by? */
static inline bool torch_has_link(void)
{
	return torch.sequence && torch.forward_thread;
}

/* NULL: it is not loaded. */
const char *torch_library_path(void);
/* Find the functions. False: this version has not what is needed. */
bool torch_library_find(void *library);
/* Find the offsets, by two records of our own. Nothing else may be observed meanwhile. */
void torch_library_measure(void);

#endif
