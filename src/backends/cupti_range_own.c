/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_range_own.h"
#include <stdio.h>
#include <string.h>
#include "backends/cuda_driver.h"
#include "backends/cupti.h"

enum { NAMED_SO = 1 }; /* pattern of a launch: the program's own kernel has that name */

static const char its_name[] = "WaitNs";
static __thread unsigned within __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t n_left_out;

void range_own_begin(void)
{
	cuda_driver_ours++;
	within++;
}

void range_own_end(void)
{
	within--;
	cuda_driver_ours--;
}

bool range_own_is_within(void)
{
	return within;
}

unsigned range_own_pattern(const struct abi_call *call)
{
	return !call->symbol || !strcmp(call->symbol, its_name) ? NAMED_SO : 0;
}

/* CUPTI gives it the number of the launch that the range is around, behind whose kernel it runs (13.0); were it one of its own, or
 * none, the program had launched no kernel of this name with it either. */
bool range_own_record(struct cupti *c, const struct activity *a, uint32_t correlation)
{
	if (a->graph || strcmp(a->name, its_name) != 0 ||
	    !cupti_launches_lacks(&c->launches, correlation, NAMED_SO))
		return false;
	atomic_fetch_add(&n_left_out, 1);
	return true;
}

void range_own_tell(struct cupti *c)
{
	static bool is_told;
	uint64_t n = atomic_load(&n_left_out);
	char text[160];

	if (!n || is_told)
		return;
	is_told = true;
	snprintf(
		text, sizeof(text),
		"left out: %llu kernels '%s' that CUPTI launched by itself to count hardware metrics",
		(unsigned long long)n, its_name);
	c->sink->ops->note(c->sink, text);
}
