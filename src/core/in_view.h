/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_IN_VIEW_H
#define PROTON_CORE_IN_VIEW_H
/* A session with some of its calling contexts (core/context_view.h). What is left out passes what it has to the
 * context above it; contexts that come to have one path are one.
 *   thread  one */
#include "core/context_view.h"
#include "core/session.h"

/* The session as a view shows it; the one that it was made from may be freed. 0, -ENOMEM, or -EINVAL: a row
 * has no lane or no epoch. */
int session_in_view(const struct session *s, enum context_view view, struct session **ret);

#endif
