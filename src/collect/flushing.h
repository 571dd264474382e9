/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_FLUSHING_H
#define PROTON_COLLECT_FLUSHING_H
/* Sessions with mode="periodic_flushing": proton writes each phase that is over and complete into its file, and then
 * it is cleared (asks.h, epochs.h).
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>

/* Ask for what can be written, and clear what is; the sender, and whoever advances a phase. While another thread is
 * at it nothing is done. */
void flushing_poll(void);
/* Files that are asked for and are not there yet: of a session, or WIRE_NONE, of all. */
uint32_t flushing_n(uint32_t session);
/* How many phases of a session are there that it began with. 0: it has another mode. */
uint32_t flushing_behind(uint32_t session);
/* In a fork child nothing is asked for. */
void flushing_forked(void);

#endif
