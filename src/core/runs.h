/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RUNS_H
#define PROTON_CORE_RUNS_H
/* What a profile says of its runs (struct session_run), for people.
 *   thread  any that may read the session */
#include "base/buf.h"
#include "core/session.h"

/* The command as a line that a shell reads as the same words; "" where it is not known. */
void run_put_command(const struct session *s, const struct session_run *run, struct buf *out);
/* The variables that were kept, NAME=VALUE with spaces between, quoted as above. */
void run_put_environment(const struct session *s, const struct session_run *run, struct buf *out);
/* How it ended, from wait()'s status; one that says neither exit nor signal (-1): it is not known. */
void run_set_end(struct session_run *run, int wait_status);
/* "exit 0", "killed by SIGSEGV"; of a profile that was saved before the run's
 * end, that. "" where it is not known. */
void run_put_end(const struct session_run *run, struct buf *out);

/* How long the profile's one run took, or took so far, ns. 0: not known, or there were several, which
 * need not have been at the same time. */
uint64_t runs_wall_ns(const struct session *s);
/* For how long nobody knows what ran: collecting was paused, or another profiler had CUPTI. */
uint64_t runs_unseen_ns(const struct session *s);
/* Of the run, without that: shares are of what was seen. */
uint64_t runs_counted_ns(const struct session *s);
/* Which part of it a device was busy, 0 to 1. NaN: not known. */
double runs_busy_share(const struct session *s, uint32_t device);

/* Where the time of the run went, for a device: these are all of it. */
struct run_parts {
	double before_ns, busy_ns, gaps_ns, after_ns;
};
/* false: not known. With several processes at a time on one device it is not, where they overlap. */
bool runs_parts(const struct session *s, uint32_t device, struct run_parts *ret);
#define RUN_PARTS_TITLE "Where the time of the run went"
/* Of a device (struct run_parts *d).
 *    id      title       value         human  width rank  meaning */
/* clang-format off */
#define RUN_PARTS_COLUMNS(_)                                                                       \
	_(before, "START-UP", d->before_ns, time_ns, 8, 0,                                         \
	  "from the start of the run to the first work")                                           \
	_(busy,   "BUSY",     d->busy_ns,   time_ns, 7, 2, "with work")                            \
	_(gaps,   "GAPS",     d->gaps_ns,   time_ns, 7, 3,                                         \
	  "without work, between the first and the last")                                          \
	_(after,  "TAIL",     d->after_ns,  time_ns, 7, 1,                                         \
	  "from the end of the last work to the end of the run, or till now")
/* clang-format on */

/* What two profiles are compared by before their numbers are: what was run, on what. */
enum run_fact {
	RUN_FACT_COMMAND,
	RUN_FACT_DEVICES,
	RUN_FACT_ENVIRONMENT,
	RUN_FACT_VERSION,
	RUN_FACT_END,
	RUN_FACT_N
};
const char *run_fact_key(enum run_fact fact);   /* "command" … */
const char *run_fact_words(enum run_fact fact); /* "another command line" … */
/* One line about all runs of a profile; "" where nothing is known of them. */
void run_put_fact(const struct session *s, enum run_fact fact, struct buf *out);

/* What is known of the runs of one side of a comparison, kept when its session is gone. */
struct run_facts {
	char *text[RUN_FACT_N];
};
int run_facts_take(struct run_facts *facts, const struct session *s); /* 0 or -ENOMEM */
void run_facts_done(struct run_facts *facts);
/* Do both sides know it, and not the same? */
bool run_facts_differ(const struct run_facts *a, const struct run_facts *b, enum run_fact fact);
/* "B: another command line, other devices"; nothing where they do not differ as far as is known. */
void run_facts_put_differences(const struct session *a, const struct session *b, struct buf *out);

/* What a run was given by --budget, in millionths of its time: a property of the root. 0: off; without it a twentieth. */
#define BUDGET_METRIC "budget (ppm)"

#endif
