/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FILTER_H
#define PROTON_CORE_FILTER_H
/* Which nodes of a snapshot are shown.
 *
 *   include RE   paths through a matching node: its ancestors, itself, its descendants
 *   exclude RE   neither a matching node nor what is below it
 *   at least X   nodes whose value is no less, and their ancestors
 *
 * An expression must match from the first character of the name on, not to its last, as Python's
 * re.match does: "foo" finds "foobar", not "a foo". POSIX extended syntax, and of Python's: \d \w
 * \s \b, (?: ), lazy quantifiers, a leading (?i). thread  one */
#include <regex.h>
#include <stdint.h>
#include "core/snapshot.h"

struct name_pattern {
	regex_t re;
	regex_t inside; /* the same, but anywhere in a name */
	char *text;     /* as it was given */
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

/* A mask is a byte a node, 1 = shown; malloc'd. All but launch metadata. NULL: out of memory. */
uint8_t *filter_all(const struct snapshot *snap);
/* Of the nodes that are shown, those whose own names match. */
uint8_t *filter_matching(struct snapshot *snap, const struct name_pattern *p);
/* What expressions leave; NULL: there is no such expression. The mask, or NULL: out of memory. */
uint8_t *filter_names(struct snapshot *snap, const struct name_pattern *include,
		      const struct name_pattern *exclude);
/* 0, or -ECANCELED: the snapshot's tick said to stop, and the mask is of no use. */
int filter_include(uint8_t *mask, struct snapshot *snap, const struct name_pattern *p);
int filter_exclude(uint8_t *mask, struct snapshot *snap, const struct name_pattern *p);
void filter_at_least(uint8_t *mask, const struct snapshot *snap, const double *values,
		     double least);
/* Upstream's rule: leave out frames with neither values nor children, and those whose children are
 * all left out. present: a byte a node, 0 = treat it as if it did not exist; or NULL. */
void filter_empty(uint8_t *mask, const struct snapshot *snap, const uint8_t *present);

#endif
