/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/annotations.h"

#include <errno.h>

#include "format/trace.h"

int annotation_captured(const struct annotation *a, struct trace *t, uint32_t *ret_captured)
{
	static const enum frame_kind kinds[ANNOTATION_N_PARTS] = {
		[ANNOTATION_MODULE] = FRAME_MODULE,
		[ANNOTATION_NAME] = FRAME_SCOPE,
		[ANNOTATION_PHASE] = FRAME_SCOPE,
	};
	uint32_t captured = 0;

	for (unsigned i = 0; i < ANNOTATION_N_PARTS; i++)
		if (a->texts[i])
			captured = trace_captured(t, captured, kinds[i], a->texts[i]);
	if (captured == SESSION_NONE)
		return -ENOMEM;
	*ret_captured = captured;
	return 0;
}
