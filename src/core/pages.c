/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/pages.h"
#include <stdio.h>
#include <string.h>
#include "base/util.h"

#define _(name, word, ...) [PAGES_##name] = word,
const char *const pages_lane_words[PAGES_N_LANES] = {PAGES_LANES(_)};
#undef _
#define _(name, word, brief, ...) [PAGES_##name] = brief,
const char *const pages_lane_briefs[PAGES_N_LANES] = {PAGES_LANES(_)};
#undef _

static const struct {
	const char *name;
	uint8_t lane, unit;
} whats[] = {
	[UNIFIED_TO_DEVICE] = {"migration HtoD", PAGES_TO_DEVICE, PAGES_BYTES},
	[UNIFIED_TO_HOST] = {"migration DtoH", PAGES_TO_HOST, PAGES_BYTES},
	[UNIFIED_TO_PEER] = {"migration PtoP", PAGES_TO_PEER, PAGES_BYTES},
	[UNIFIED_CPU_FAULT] = {"CPU page fault", PAGES_MISSED, PAGES_NUMBER},
	[UNIFIED_GPU_FAULT] = {"GPU page faults", PAGES_MISSED, PAGES_NUMBER},
	[UNIFIED_THRASH] = {"thrashing", PAGES_THRASHING, PAGES_NUMBER},
	[UNIFIED_THROTTLE] = {"throttled", PAGES_THRASHING, PAGES_TIME},
	[UNIFIED_REMOTE] = {"mapped remotely", PAGES_REMOTE, PAGES_NUMBER},
};
static const char *const causes[] = {[UNIFIED_FOR_ACCESS] = "",
				     [UNIFIED_AS_ASKED] = " as asked",
				     [UNIFIED_EVICTED] = " evicted"};

const char *pages_name(unsigned what, unsigned cause, char out[PAGES_NAME_MAX])
{
	snprintf(out, PAGES_NAME_MAX, "%s%s", what < ARRAY_SIZE(whats) ? whats[what].name : "",
		 cause < ARRAY_SIZE(causes) ? causes[cause] : "");
	return out;
}

enum pages_unit pages_unit(unsigned what)
{
	return what < ARRAY_SIZE(whats) ? (enum pages_unit)whats[what].unit : PAGES_TIME;
}

struct pages_kind pages_kind(const char *name)
{
	for (uint8_t what = 0; what < ARRAY_SIZE(whats); what++) {
		size_t len = strlen(whats[what].name);

		for (uint8_t cause = 0; cause < ARRAY_SIZE(causes); cause++)
			if (!strncmp(name, whats[what].name, len) &&
			    !strcmp(name + len, causes[cause]))
				return (struct pages_kind){what, cause, whats[what].lane,
							   whats[what].unit};
	}
	return (struct pages_kind){.lane = PAGES_OTHER, .unit = PAGES_TIME};
}
