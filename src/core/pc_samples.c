/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/pc_samples.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

#define NOT_ISSUED "_not_issued"

/* What stands before the reason: "smsp__pcsamp_warps_issue_stalled_", Hopper's "…_warp_stall_". */
static const char *const befores[] = {"issue_stalled_", "warp_stall_"};

enum pc_reason pc_reason_of(const char *name, bool *ret_not_issued)
{
	static const char *const theirs[] = {
#define _(id, key, theirs_) [PC_##id] = theirs_,
		PC_REASONS(_)
#undef _
	};
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(befores); i++) {
		const char *at = strstr(name, befores[i]);

		if (at) {
			name = at + strlen(befores[i]);
			break;
		}
	}
	len = strlen(name);
	*ret_not_issued =
		len > strlen(NOT_ISSUED) && !strcmp(name + len - strlen(NOT_ISSUED), NOT_ISSUED);
	if (*ret_not_issued)
		len -= strlen(NOT_ISSUED);
	for (int i = 0; i < PC_OTHER; i++)
		if (strlen(theirs[i]) == len && !memcmp(theirs[i], name, len))
			return (enum pc_reason)i;
	return PC_OTHER;
}

void pc_instruction_put(struct buf *out, uint64_t offset, const char *function, const char *cubin)
{
	buf_printf(out, "+0x%04" PRIx64 " %s@%s", offset, function, cubin);
}

bool pc_instruction_parse(const char *name, struct pc_instruction *ret)
{
	struct pc_instruction is;
	const char *at = strrchr(name, '@');
	char *end;

	if (strncmp(name, "+0x", 3) != 0 || !at)
		return false;
	is.offset = strtoull(name + 3, &end, 16);
	if (*end != ' ' || end >= at)
		return false;
	is.function = end + 1;
	is.function_len = (size_t)(at - is.function);
	is.cubin = strtoull(at + 1, &end, 16);
	if (end == at + 1 || strcmp(end, PC_CUBIN_SUFFIX) != 0)
		return false;
	*ret = is;
	return true;
}
