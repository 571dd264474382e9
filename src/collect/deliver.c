/* SPDX-License-Identifier: MIT */
/* Records come faster than the sender does: who brings them sees to it that there is room for the next. */
#include "config.h" // IWYU pragma: keep
#include "base/util.h"
#include "collect/internal.h"

/* Trace files are open for the sender alone. */
static void make_room(uint32_t waiting, uint32_t max)
{
	if (_likely_(waiting < max / 2))
		return;
	if (is_traced())
		sender_take(waiting >= max / 8 * 7);
	else
		intervals_help();
}

void interval_deliver(const struct activity *a, uint32_t slot)
{
	make_room(interval_push(a, slot), MAX_INTERVALS);
}

void interval_deliver_pages(uint8_t source, uint32_t amount, const struct wire_interval *v)
{
	make_room(interval_push_pages(source, amount, v), MAX_BESIDE);
}
