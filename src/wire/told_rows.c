/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "wire/told_rows.h"
#include <string.h>
#include "base/util.h"

/* From one member to another, which stand behind each other in both. */
#define BYTES(in_entry, from, to, in_row, first)                                                   \
	{                                                                                          \
		offsetof(struct in_entry, from), offsetof(struct in_row, first),                   \
			offsetof(struct in_entry, to) + sizeof(((struct in_entry *)0)->to) -       \
				offsetof(struct in_entry, from)                                    \
	}

static const struct told_bytes config_bytes[] = {
	BYTES(wire_config, node, device, session_config, node),
	BYTES(wire_config, grid, local, session_config, of),
	BYTES(wire_config, count, time_ns, session_config, count),
};

#define TOLD(id, structure, bytes)                                                                 \
	{                                                                                          \
		TABLE_##id, sizeof(struct structure), bytes, ARRAY_SIZE(bytes)                     \
	}

const struct told_rows told_rows[WIRE_N_KINDS] = {
	[WIRE_CONFIGS] = TOLD(CONFIGS, wire_config, config_bytes),
};

void told_row(const struct told_rows *t, const void *entry, union any_row *ret)
{
	memset(ret, 0, row_tables[t->table].row_size);
	for (size_t i = 0; i < t->n_bytes; i++)
		memcpy((char *)ret + t->bytes[i].in_row, (const char *)entry + t->bytes[i].in_entry,
		       t->bytes[i].n);
}

void told_entry(const struct told_rows *t, const union any_row *row, void *ret_entry)
{
	memset(ret_entry, 0, t->entry);
	for (size_t i = 0; i < t->n_bytes; i++)
		memcpy((char *)ret_entry + t->bytes[i].in_entry,
		       (const char *)row + t->bytes[i].in_row, t->bytes[i].n);
}
