/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/made_from.h"
#include "core/generated.h"

static bool is_generated(const struct session *s, const struct session_frame *f)
{
	size_t len;
	uint32_t line;

	return f->kind == FRAME_PYTHON && generated_parse(session_text(s, f->name), &len, &line);
}

const char *made_from(const struct session *s, uint32_t node)
{
	const struct session_frame *f = &s->frames[s->nodes[node].frame];

	if (f->kind != FRAME_KERNEL && f->kind != FRAME_COPY && f->kind != FRAME_SET)
		return NULL;
	for (; node != SESSION_ROOT; node = s->nodes[node].parent) {
		f = &s->frames[s->nodes[node].frame];
		if (is_generated(s, f))
			return f->symbol ? session_text(s, f->symbol) : "";
	}
	return NULL;
}
