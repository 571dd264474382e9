/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/late_values.h"
#include <stdint.h>
#include "base/clock.h"
#include "collect/futex.h"
#include "collect/patience.h"

enum { WAIT_MS = 2000, LOOK_MS = 10, GONE_MS = 10000 };

static _Atomic uint32_t within; /* futex: the number of who is in there; 0: nobody */
static _Atomic uint32_t numbers;
/* owner: the sender */
static struct {
	uint32_t who; /* that it found there first */
	struct patience p;
} found;

static bool begin(void)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong(&within, &nobody,
					      atomic_fetch_add(&numbers, 1) | 1u << 31);
}

bool late_values_begin(void)
{
	struct patience p = patience(WAIT_MS);
	uint32_t who, ms;

	while (!begin()) {
		ms = patience_ms(&p);
		if (!ms)
			return false;
		who = atomic_load(&within);
		if (who)
			futex_wait(&within, who, MIN(ms, (uint32_t)LOOK_MS));
	}
	return true;
}

void late_values_end(bool has_begun)
{
	if (!has_begun)
		return;
	atomic_store(&within, 0);
}

bool late_values_are_told(void)
{
	/* Written, so that who comes in next sees all that was there for us to see. */
	uint32_t who = atomic_fetch_or(&within, 0);

	if (!who)
		return true;
	if (who != found.who) {
		found.who = who;
		found.p = patience(GONE_MS);
	}
	if (patience_ms(&found.p))
		return false;
	atomic_compare_exchange_strong(&within, &who, 0);
	return true;
}

void late_values_forked(void)
{
	atomic_store(&within, 0);
}
