/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_GRAPH_FORMS_H
#define PROTON_CORE_GRAPH_FORMS_H
/* How CUDA graphs were recorded (ADR 33), and what of that compares.
 *   thread  one */
#include "core/session.h"

enum graph_form { GRAPHS_NONE = 0, GRAPHS_BY_NODES = 1, GRAPHS_AS_WHOLE = 2, GRAPHS_BOTH = 3 };

enum graph_form graph_form_of(const struct session *s);
/* The session with all that ran in graphs as their "<captured_at>"'s own; the one that it was made from may be freed.
 * 0, -ENOMEM, or -EINVAL: a row has no lane or no epoch. */
int graph_forms_drop(const struct session *s, struct session **ret);

#endif
