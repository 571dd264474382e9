/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COUNTERS_ASKER_H
#define PROTON_COUNTERS_ASKER_H
/* The child's side of counters_ask(): ctx is the struct counters_question. Its lines, with tabs between
 * what follows the key:
 *
 *   stage TEXT, broken TEXT       as it looks for a library
 *   library VERSION PATH          the one that it stays with
 *   known NAME                    a chip that this knows …
 *   no-gpu TEXT, no-chip NAME     why there is no chip
 *   failed TEXT                   what the library did not do
 *   chip NAME
 *   submetric TYPE NAME           what can stand behind metrics of a type …
 *   metric ROLE STATE TYPE PASSES NAME HARDWARE UNIT DESCRIPTION …
 *   together PASSES               of what was planned */
#include "counters/ask.h"
#include "launch/probe.h"

probe_fn ask_counters_host;

/* In such a child. Tell what the search for a library sees, ctx is the descriptor. */
cupti_seen_fn asker_tell_seen;
/* The driver must be started before CUPTI is asked for devices: its library, NULL: what is missing was told. */
void *asker_start_driver(int fd);

#endif
