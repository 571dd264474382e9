/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_LAUNCH_HELP_H
#define PROTON_TESTS_LAUNCH_HELP_H
/* What the launch tests share. All waits have a deadline; all failures are Check's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PATIENCE_MS 60000

extern char scratch[]; /* a fresh directory, XDG_RUNTIME_DIR and TMPDIR of the test */
void scratch_make(void);
void scratch_remove(void); /* and fails when a session directory is left there */

/* Path of a file in the scratch directory; of one of tests/programs. Static storage, four at
 * a time. */
const char *in_scratch(const char *name);
const char *test_program(const char *name);

/* The text of a file; "" when there is none. Static storage. */
const char *file_text(const char *path);
void write_file(const char *path, const void *data, size_t len, unsigned mode);

uint64_t now_ms(void);
void nap(void); /* 2 ms, between two looks at a condition */
#define wait_until(condition)                                                                      \
	do {                                                                                       \
		uint64_t deadline_ms = now_ms() + PATIENCE_MS;                                     \
		while (!(condition)) {                                                             \
			ck_assert_msg(now_ms() < deadline_ms, "never: %s", #condition);            \
			nap();                                                                     \
		}                                                                                  \
	} while (0)

void set_signal(int sig, void (*handler)(int));

/* No process of this pid, or only a zombie. */
bool is_dead(pid_t pid);
/* Session directories in the scratch directory. */
int count_sessions(void);

#endif
