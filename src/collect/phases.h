/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PHASES_H
#define PROTON_COLLECT_PHASES_H
/* Parts of a session, one after another: each is a profile that the program can ask for while it runs, and clear.
 * They return as the inline functions of proton/proton.h do (epochs.h, asks.h).
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int collect_phase_advance(int session);
int collect_phase_is_complete(int session, int phase);
int collect_phase_clear(int session, int phase, int up_to);
int collect_session_data(int session, int phase, const char *format, char **ret_data,
			 size_t *ret_size);
void collect_data_free(char *data);
/* Until no file of a session that it asked for itself is missing (flushing.h), as long as proton is there. */
void phases_await_files(uint32_t session);
/* Have proton write the file of a phase, and wait until it is there. format: a string. */
int phase_write(uint32_t session, uint32_t phase, uint32_t format);

#endif
