/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/context_view.h"
#include <string.h>

static const struct {
	const char *word, *what;
	uint32_t shows; /* a bit a kind of frame, among those that are contexts */
} views[CONTEXTS_N] = {
#define _(name, word, shows, what) [CONTEXTS_##name] = {word, what, shows},
	CONTEXT_VIEWS(_)
#undef _
};

const char *context_view_word(enum context_view view)
{
	return views[view < CONTEXTS_N ? view : CONTEXTS_ALL].word;
}

const char *context_view_what(enum context_view view)
{
	return views[view < CONTEXTS_N ? view : CONTEXTS_ALL].what;
}

bool context_view_parse(const char *word, enum context_view *ret)
{
	for (unsigned i = 0; i < CONTEXTS_N; i++) {
		if (strcmp(views[i].word, word))
			continue;
		*ret = (enum context_view)i;
		return true;
	}
	return false;
}

static uint32_t omitted(enum context_view view)
{
	return CONTEXT_FRAMES_ & ~views[view].shows;
}

bool context_view_omits(enum context_view view, unsigned kind)
{
	return kind < FRAME_N_KINDS && omitted(view) >> kind & 1;
}

/* Which kinds of contexts are there, beside scopes? */
static uint32_t recorded(const struct session *s)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < s->n_frames; i++)
		if (s->frames[i].kind < FRAME_N_KINDS)
			kinds |= 1u << s->frames[i].kind;
	return kinds & CONTEXT_FRAMES_;
}

static bool is_different(enum context_view view, uint32_t kinds)
{
	if (view == CONTEXTS_SCOPES)
		return kinds != 0;
	return kinds & views[view].shows && (view == CONTEXTS_LINE || kinds & omitted(view));
}

enum context_view context_view_next(enum context_view view, const struct session *s)
{
	uint32_t kinds = recorded(s);

	for (unsigned i = view + 1u; i < CONTEXTS_N; i++)
		if (is_different((enum context_view)i, kinds))
			return (enum context_view)i;
	return CONTEXTS_ALL;
}

uint32_t context_view_node(enum context_view view, const struct session *s, uint32_t node)
{
	while (node != SESSION_ROOT && context_view_omits(view, session_node_kind(s, node)))
		node = s->nodes[node].parent;
	return node;
}

bool context_view_may_be_empty(enum context_view view, unsigned kind)
{
	return view == CONTEXTS_LINE && kind == FRAME_PYTHON;
}

uint32_t context_view_above(enum context_view view, const struct session *s, uint32_t node)
{
	bool is_line = context_view_may_be_empty(view, session_node_kind(s, node));

	if (node == SESSION_ROOT)
		return SESSION_NONE;
	do
		node = context_view_node(view, s, s->nodes[node].parent);
	while (is_line && context_view_may_be_empty(view, session_node_kind(s, node)));
	return node;
}
