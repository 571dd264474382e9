/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_SESSION_NAMES_H
#define PROTON_LIVE_SESSION_NAMES_H
/* Which file a session of the program is written to. Two may name the same one: "a" and "./a", a link, those of two
 * processes, the file of the run itself. None is to take the place of another of the run: who comes second is
 * written to NAME.2, and so on; nor that of a file that somebody else wrote since the run began, as programs do that
 * profile themselves at the same time. What a program names again after it was written is written again, as the
 * program wants it, and so is what it named where it has ended, by processes that began later: they would without us.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wire_session_state;

/* Whose session it is. */
struct session_owner {
	pid_t pid;
	uint64_t start_ns; /* CLOCK_REALTIME, of its collector: the process may be older */
};

struct session_names {
	struct session_name {
		uint64_t wanted, used; /* hashes of paths */
		uint64_t instance;
		uint32_t serial;
		uint32_t
			n_started; /* sessions of the process, when this one was over; 0: it is not */
		uint32_t number;   /* behind the name; 1: none */
		struct session_owner owner;
		uint64_t over_ns, over_ticks; /* when: CLOCK_REALTIME, and ticks since boot */
	} * list;
	size_t n, cap;
	uint64_t run;      /* hash of the path of the run's own file; 0: it has none */
	uint64_t since_ns; /* the run began, CLOCK_REALTIME; 0: files are not looked at */
};

/* When the run began. */
void session_names_begin(struct session_names *n, uint64_t since_ns);
/* The run is written there. */
void session_names_run(struct session_names *n, const char *path);
/* The path of its file without the suffix, to be freed; *ret_is_other (may be NULL): it is not as it was named, and
 * this is the first time that it was asked for. 0 or -errno. */
int session_names_find(struct session_names *n, const struct wire_session_state *session,
		       const struct session_owner *owner, const char *suffix, char **ret_stem,
		       bool *ret_is_other);
/* Has it a file that was asked for with this suffix, and that no later one has taken? */
bool session_names_has(struct session_names *n, const struct wire_session_state *session,
		       const char *suffix);
/* A session was finalized, when its process had started so many. */
void session_names_over(struct session_names *n, const struct wire_session_state *session,
			uint32_t n_started);
void session_names_done(struct session_names *n);

#endif
