/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/hatchet_kind.h"

#include <string.h>

#include "base/util.h"
#include "core/line_name.h"

struct word {
	const char *text;
	size_t len;
	unsigned value;
};
#define WORD(text, value)                                                                          \
	{                                                                                          \
		text, sizeof(text) - 1, value                                                      \
	}

unsigned hatchet_hint(const char *key, size_t len)
{
	static const struct word hints[] = {
		WORD("time (ns)", HINT_TIME),   WORD("count", HINT_COUNT),
		WORD("device_id", HINT_DEVICE), WORD("direction", HINT_DIRECTION),
		WORD("cycles", HINT_CYCLES),    WORD("num_samples", HINT_SAMPLES),
		WORD("Time (ns)", HINT_TIME),   WORD("Count", HINT_COUNT),
		WORD("DeviceId", HINT_DEVICE),
	};

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (len == hints[i].len && !memcmp(key, hints[i].text, len))
			return hints[i].value;
	return 0;
}

static bool starts(const char *name, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && !memcmp(name, prefix, n);
}

static bool is_source_line(const char *name, size_t len)
{
	struct line_name at;

	return line_name_parse(name, len, &at) && at.file_len;
}

static enum frame_kind guess_device_work(const char *name, size_t len, unsigned hints)
{
	if (starts(name, len, "memset"))
		return FRAME_SET;
	if (hints & HINT_DIRECTION || starts(name, len, "memcpy") ||
	    starts(name, len, "cudaMemcpy"))
		return FRAME_COPY;
	return FRAME_KERNEL;
}

enum frame_kind hatchet_guess_kind(const char *name, size_t len, unsigned hints)
{
	static const struct word exact[] = {
		WORD(CAPTURED_AT, FRAME_GRAPH),
		WORD(GRAPH_RUN_BEGIN ">", FRAME_GRAPH),
		WORD("<other>", FRAME_OTHER),
	};
	const unsigned work = HINT_TIME | HINT_COUNT | HINT_DEVICE;

	if ((hints & work) == work)
		return starts(name, len, GRAPH_RUN_BEGIN) ? FRAME_GRAPH_RUN
							  : guess_device_work(name, len, hints);
	if (hints & HINT_CYCLES)
		return FRAME_INSTRUMENT;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		if (len == exact[i].len && !memcmp(name, exact[i].text, len))
			return (enum frame_kind)exact[i].value;
	if (starts(name, len, FORM_BEGIN " "))
		return FRAME_GRAPH;
	if (starts(name, len, "__proton_launch_metadata"))
		return FRAME_STATE;
	if (is_source_line(name, len))
		return hints & HINT_SAMPLES ? FRAME_LINE : FRAME_PYTHON;
	return FRAME_FUNCTION;
}

static bool is_one_of(const char *key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(key, names[i]))
			return true;
	return false;
}

bool hatchet_is_measured(const char *key)
{
	static const char *const names[] = {"count",       "time (ns)",
					    "cycles",      "normalized_cycles",
					    "num_samples", "num_stalled_samples"};

	return is_one_of(key, names, ARRAY_SIZE(names)) || !strncmp(key, "stalled_", 8);
}

bool hatchet_is_node_key(const char *key)
{
	static const char *const names[] = {"children", "frame", "metrics",
					    "proton",   "name",  "attributes"};

	return is_one_of(key, names, ARRAY_SIZE(names));
}
