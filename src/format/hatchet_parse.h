/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_PARSE_H
#define PROTON_FORMAT_HATCHET_PARSE_H
/* First half of reading a Hatchet file: its bytes, in one pass and without recursion, become a
 * bare tree and the recorded values of what hangs on its nodes.
 *
 *   bytes ── yajl ──> records (in preorder) + tokens ── hatchet_read.c ──> session
 *
 * The halves are apart because a file names a node after the node's children, its devices after
 * the nodes that ran on them, and fractions of a metric after its whole numbers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/strtab.h"
#include "format/reader.h"
#include "format/tokens.h"

#define RECORD_NONE UINT32_MAX

struct record {
	uint32_t parent;         /* index of a record before it, RECORD_NONE: top of the file */
	uint32_t name;           /* string id */
	uint32_t metrics, extra; /* positions in tokens, 0 = none */
	uint8_t hints;           /* enum hatchet_hint bits */
	bool known;              /* has a key that only a node has */
};

enum key_fact { /* what values a metric key has had */
		FACT_WHOLE = 1,
		FACT_FRACTION = 2, /* written with a point or an exponent */
		FACT_PARTIAL = 4,  /* not a whole number */
		FACT_NEGATIVE = 8,
		FACT_TEXT = 16,
		FACT_ROOT = 32, /* the root has it: inclusive */
};

/* Keys that mean something have fixed ids: they are interned first, in this order. */
/* clang-format off */
#define HATCHET_KEYS(_)                                                                            \
	_(CHILDREN, "children") _(FRAME, "frame") _(METRICS, "metrics") _(PROTON, "proton")        \
	_(NAME, "name") _(DEVICE_ID, "device_id") _(DEVICE_TYPE, "device_type") _(ROWS, "rows")    \
	_(PARTS, "parts") _(KIND, "kind") _(NAME_HEX, "name_hex") _(PARENT, "parent")              \
	_(HISTOGRAMS, "histograms") _(BUCKETS, "buckets") _(DURATIONS, "durations")                \
	_(DEVICE, "device") _(ROOT, "root")                                                        \
	_(FRAMES, "frames") _(SETS, "sets") _(LOSSES, "losses") _(SOURCE, "source")                \
	_(START_NS, "start_ns") _(END_NS, "end_ns") _(VERSION, "version") _(HEX, "hex")            \
	_(FILE, "file") _(LINE, "line") _(MODULE, "module") _(OFFSET, "offset")                    \
	_(SYMBOL, "symbol") _(ADD, "add") _(SCOPE, "scope") _(TYPE, "type") _(UNIT, "unit")        \
	_(WEIGHT, "weight") _(ARCH, "arch") _(BUS_WIDTH, "bus_width") _(CLOCK_RATE, "clock_rate")  \
	_(MEMORY_CLOCK_RATE, "memory_clock_rate") _(NUM_SMS, "num_sms")                            \
	_(PROCESS, "process") _(ATTRIBUTES, "attributes") _(NID, "_hatchet_nid")           \
	_(TIME, "time (ns)") _(COUNT, "count") _(OLD_TIME, "Time (ns)") _(OLD_COUNT, "Count")      \
	_(OLD_DEVICE_ID, "DeviceId") _(OLD_DEVICE_TYPE, "DeviceType")
/* clang-format on */

enum hatchet_key {
	KEY_EMPTY = 0, /* "" is always the first string of a table */
#define _(id, text) KEY_##id,
	HATCHET_KEYS(_)
#undef _
		KEY_N
};

struct hatchet_file {
	struct strtab *strings; /* of the session: names, values */
	struct strtab *keys;
	uint8_t *facts; /* enum key_fact bits, by key */
	uint8_t *hints; /* that a node with this key gives of its kind, by key */
	size_t cap_facts, cap_hints;
	struct record *records;
	size_t n_records, cap_records;
	struct tokens tokens;
	size_t devices[8]; /* positions of the device tables; more than one never happens */
	size_t n_devices;
	uint64_t garbage_at; /* what follows the list, 0 = nothing */
};

/* An empty file that knows the keys above. 0 or -ENOMEM; done() frees what there is. */
int hatchet_file_init(struct hatchet_file *file, struct strtab *strings);
/* 0, or a negative errno with *error set. done() frees what there is, after a failure too. */
int hatchet_parse(struct reader_input *in, struct strtab *strings, struct hatchet_file *file,
		  struct format_error *error);
void hatchet_file_done(struct hatchet_file *file);

#endif
