/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LOSS_H
#define PROTON_CORE_LOSS_H
#include <stdbool.h>
/* Losses are data: each is counted where it happens, crosses the wire cumulatively, is written
 * into the file and drawn on the screen. Numbers are on the wire: never reused. */

/*      name            number  word in files         sentence for people */
#define LOSSES(_)                                                                                  \
	_(DROPPED,        0, "dropped_records",     "records dropped by the vendor's library")     \
	_(UNMATCHED,      1, "unmatched",           "records whose launch is unknown")             \
	_(ZERO_TIME,      2, "zero_timestamps",     "records without timestamps")                  \
	_(REVERSED_TIME,  3, "reversed_timestamps", "records that end before they start")          \
	_(NODES_FULL,     4, "nodes_full",          "calling contexts folded into <other>")        \
	_(SLOTS_FULL,     5, "slots_full",          "records without a place for their values")    \
	_(LANES_FULL,     6, "lanes_full",          "records whose stream is not told apart (too many)") \
	_(STRINGS_FULL,   7, "strings_full",        "names not kept (string memory full)")         \
	_(BUFFERS_FULL,   8, "buffers_full",        "activity buffers refused (memory bound)")     \
	_(PIPE_FULL,      9, "pipe_full",           "sends put off because the pipe was full")     \
	_(NO_MEMORY,     10, "no_memory",           "allocations that failed")                     \
	_(SCOPE_MISMATCH, 11, "scope_mismatch",     "scope exits without their enter")             \
	_(UNACCOUNTED,   12, "unaccounted_launches", "launches whose records never arrived")       \
	_(WIRE_ERROR,    13, "wire_errors",         "frames that could not be understood")         \
	_(WIRE_GAP,      14, "wire_gaps",           "frames lost on the way (values heal)")        \
	_(CONTEXTS_FULL, 15, "contexts_full",       "launches folded into their thread's root") \
	_(INTERVALS,     16, "intervals",           "operations missing from BUSY and the trace") \
	_(TRACE_FULL,    17, "trace_full",          "operations beyond the limit of the trace") \
	_(TRACE_UNREAD,  18, "trace_unread",        "operations of the trace that could not be read") \
	_(TRACE_UNWRITTEN, 19, "trace_unwritten",   "operations missing from the trace, whose file could not be written (disk full?)") \
	_(UNSTARTED,     20, "unstarted",           "calls that came while the collector was starting") \
	_(UNHEARD,       21, "unheard",             "processes that had something to report and were never heard") \
	_(LATE,          22, "late",                "values that came after the last report of their process") \
	_(REFUSED,       23, "refused",             "processes in which the collector got no memory to start")

enum loss {
#define _(name, number, word, sentence) LOSS_##name = number,
	LOSSES(_)
#undef _
	LOSS_N = 24
};

/* Is a number gone, or only a detail? Put-off sends and frames that healed lost nothing, records on a
 * shared lane are counted, and a trace that is full is as long as it was asked to be. */
static inline bool loss_is_loss(enum loss loss)
{
	return loss != LOSS_PIPE_FULL && loss != LOSS_WIRE_GAP && loss != LOSS_LANES_FULL &&
	       loss != LOSS_TRACE_FULL;
}

const char *loss_word(enum loss loss);
const char *loss_sentence(enum loss loss);

#endif
