/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FORMAT_SAMPLE_H
#define TESTS_FORMAT_SAMPLE_H
/* A session with one of everything that a session can hold, for what must carry all of it. */
#include "core/session.h"

struct session *sample_session(void);
/* A line that says where two sessions differ, "" when they hold the same. Nodes are compared as
 * trees: a file may number them anew. */
const char *sample_difference(const struct session *a, const struct session *b);

#endif
