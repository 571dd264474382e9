/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NAME_PATTERN_H
#define PROTON_CORE_NAME_PATTERN_H
/* Expressions of names. One must match from the first character of the name on, not to its last, as
 * Python's re.match does: "foo" finds "foobar", not "a foo". POSIX extended syntax, and of Python's: \d
 * \w \s \b, (?: ), lazy quantifiers, a leading (?i).
 *   thread  one */
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/snapshot.h"

struct name_pattern {
	regex_t re;
	regex_t inside; /* the same, but anywhere in a name */
	char *text;     /* as it was given */
	size_t bytes;   /* of memory, at most, for both */
};

/* 0, -ENOMEM, or -EINVAL with why in ret_why (size bytes). */
int name_pattern_init(struct name_pattern *p, const char *expression, char *ret_why, size_t size);
/* One that must match to the last character, too. */
int name_pattern_init_whole(struct name_pattern *p, const char *expression, char *ret_why,
			    size_t size);
void name_pattern_done(struct name_pattern *p);
/* Would it match the name of a node that is shown, if it could match within a name? For who finds that
 * it matches none. */
bool name_pattern_is_inside(const struct name_pattern *p, struct snapshot *snap);

/* Which nodes of a snapshot have a name that matches. Nodes with the same frame have the same name: each
 * name is tried once. */
struct name_matcher {
	struct snapshot *snap;
	const struct snap_node *nodes;
	const struct session_node *session_nodes;
	const regex_t *re;
	const char
		*text; /* a name that is shown is found, whatever its signs mean in `re`; or NULL */
	uint8_t *seen; /* by session frame; NULL: out of memory, each node is matched */
};

enum { NAME_SEEN_NO = 1, NAME_SEEN_YES = 2 };

void name_matcher_init(struct name_matcher *m, struct snapshot *snap, const struct name_pattern *p);
void name_matcher_done(struct name_matcher *m);
bool name_matcher_test(const struct name_matcher *m, uint32_t node); /* without what was seen */
static inline bool name_matcher_at(const struct name_matcher *m, uint32_t node)
{
	uint32_t id = m->nodes[node].session_node;
	uint8_t *seen;

	if (!m->seen || id == SESSION_NONE)
		return name_matcher_test(m, node);
	seen = &m->seen[m->session_nodes[id].frame];
	if (!*seen)
		*seen = name_matcher_test(m, node) ? NAME_SEEN_YES : NAME_SEEN_NO;
	return *seen == NAME_SEEN_YES;
}

#endif
