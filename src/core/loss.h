/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LOSS_H
#define PROTON_CORE_LOSS_H
#include <stdbool.h>
#include <stdint.h>
/* Losses are data: each is counted where it happens, crosses the wire cumulatively, is written
 * into the file and drawn on the screen. Numbers are on the wire: never reused. */

/*      name            number  word in files         what people read after the number; its first
 *                                                    noun is a plural, see loss_text() */
/* clang-format off */
#define LOSSES(_)                                                                                  \
	_(DROPPED,        0, "dropped_records",     "records dropped by the vendor's library")     \
	_(UNMATCHED,      1, "unmatched",           "records of unknown launches")             \
	_(ZERO_TIME,      2, "zero_timestamps",     "records without timestamps")                  \
	_(REVERSED_TIME,  3, "reversed_timestamps", "records with an end before the start")          \
	_(NODES_FULL,     4, "nodes_full",          "calling contexts folded into <other>")        \
	_(SLOTS_FULL,     5, "slots_full",          "records without a place for values")    \
	_(LANES_FULL,     6, "lanes_full",          "records of streams not told apart (too many)") \
	_(STRINGS_FULL,   7, "strings_full",        "names not kept (string memory full)")         \
	_(BUFFERS_FULL,   8, "buffers_full",        "activity buffers refused (memory limit)")     \
	_(PIPE_FULL,      9, "pipe_full",           "sends put off because the pipe was full")     \
	_(NO_MEMORY,     10, "no_memory",           "allocations of proton that failed")           \
	_(SCOPE_MISMATCH, 11, "scope_mismatch",     "scope exits without an enter")            \
	_(UNACCOUNTED,   12, "unaccounted_launches", "launches without a record")       \
	_(WIRE_ERROR,    13, "wire_errors",         "messages not understood (damaged?)")        \
	_(WIRE_GAP,      14, "wire_gaps",           "messages lost on the way, made good later")        \
	_(CONTEXTS_FULL, 15, "contexts_full",       "launches folded into the root of a thread") \
	_(INTERVALS,     16, "intervals",           "operations missing from busy time and trace") \
	_(TRACE_FULL,    17, "trace_full",          "operations not in the trace (see --trace-limit)") \
	_(TRACE_UNREAD,  18, "trace_unread",        "operations of the trace not read back") \
	_(TRACE_UNWRITTEN, 19, "trace_unwritten",   "operations not in the trace (disk full?)") \
	_(UNSTARTED,     20, "unstarted",           "calls that came while the collector was starting") \
	_(UNHEARD,       21, "unheard",             "processes never heard of, with something to report") \
	_(LATE,          22, "late",                "values after the last report of a process") \
	_(REFUSED,       23, "refused",             "processes not profiled: no memory for the collector") \
	_(VANISHED,      24, "vanished",            "processes cut off (killed?): what was not sent yet is missing") \
	_(UNSENT,        25, "unsent",              "processes that could not send all (disk full?)") \
	_(TOO_DEEP,      26, "too_deep",            "scopes not counted: deeper than 256, or one thread too many") \
	_(LEFT_OPEN,     27, "left_open",           "scopes of other threads open at the end, not timed") \
	_(UNFINISHED,    28, "unfinished",          "profiles saved while the program ran: what came after is missing") \
	_(CONTEXTS_CUT,  29, "contexts_cut",        "calling contexts cut at 256 frames")              \
	_(EARLY,         30, "early_timestamps",    "records with a start before the launch")           \
	_(GAPS,          31, "gaps",                "gaps between work of a device, charged to nobody")         \
	_(ASIDE,         32, "aside_ms",            "milliseconds in which a profiler inside the program had CUPTI") \
	_(SCOPES,        33, "trace_scopes",        "scopes or pages missing from the trace: too many at once") \
	_(WINDOWS,       34, "trace_windows",       "windows of the trace not remembered, what ran in them may be missing") \
	_(SCOPES_FULL,   35, "trace_scopes_full",   "scopes and pages not in the trace (half of --trace-limit is for them)") \
	_(LEVELS,        36, "trace_memory",        "changes of device memory not in the trace") \
	_(LEFT_ORDER,    37, "left_behind_order",   "allocations that scopes may have left behind, and not counted") \
	_(STEP_MEMORY,   38, "step_memory",         "changes of device memory that steps know nothing of") \
	_(UNRECORDED,    39, "unrecorded_spans",    "times without a record told as one with what is between them") \
	_(CALLS_LEFT,    40, "calls_left",          "calls of the GPU's library that never returned (a jump?), not timed") \
	_(CONFIGS_FULL,  41, "launch_configs_full", "kernels whose launch configuration was not kept (too many)") \
	_(COUNTERS,      42, "counter_samples",     "samples of hardware counters that came too fast, or were not read in time") \
	_(PC_DROPPED,    43, "pc_samples_dropped",  "samples of code that the GPU dropped (raise --pc-sampling)") \
	_(PC_BUFFER,     44, "pc_buffer_full",      "times when the GPU's buffer of samples was full (see --pc-sampling)") \
	_(PC_PLACES,     45, "pc_samples_unplaced", "samples of code kept with their kernel, not by instruction (too many)") \
	_(PC_FULL,       46, "pc_samples_full",     "samples of code not kept (too many at once)") \
	_(PC_UNREAD,     47, "pc_samples_unread",   "times when sampling of code could not begin, or be read, in time") \
	_(PC_RUNS,       48, "pc_kernels_full",     "kernels among which samples of code were not divided (too many)") \
	_(PC_CUBINS,     49, "cubins_unkept",       "modules whose code was not kept: no lines are known of it") \
	_(WARP_RECORDS,  50, "warp_records_full",   "records of warps that later ones took the room of (a larger buffer?)") \
	_(WARP_UNMATCHED, 51, "warp_unmatched",     "records of warps without their other end") \
	_(WARP_BLOCKS,   52, "warp_blocks",         "thread blocks whose records were not understood") \
	_(WARP_LAUNCHES, 53, "warp_launches",       "launches of kernels whose scopes were not read") \
	_(WARPS,         54, "warps",               "warps that found no room for records (fewer at a time: --kernel-scopes?)") \
	_(WARP_WRAPS,    55, "warp_clock_wraps",    "warps whose times may be too short, by 2^32 cycles (their clocks have 32 bits)") \
	_(WARPS_BEYOND,  56, "warps_beyond",        "warps of blocks with more of them than PROTON_KERNEL_WARPS") \
	_(WARP_ROWS,     57, "warp_rows_full",      "records of warps that had no room for one more name (PROTON_KERNEL_ROWS)") \
	_(WARP_FILES,    58, "warp_files",          "launches whose single scopes could not be kept in a file") \
	_(UNREWRITTEN,   59, "unrewritten",         "kernels left without scopes (see the notes)")
/* clang-format on */

enum loss {
#define _(name, number, word, sentence) LOSS_##name = number,
	LOSSES(_)
#undef _
		LOSS_N = 60
};

/* Does the loss make a number wrong? Sends that were put off and gaps that were made good lost
 * nothing, records on a shared lane are counted, a full trace is as long as was asked for,
 * of memory in a trace the next change is right again, of steps of which it is not known how many is told, of time
 * that is taken for not recorded nothing is said, and of kernels it is told for how many it is not known how they were
 * launched, and those that were not rewritten are measured as they are. */
static inline bool loss_is_loss(enum loss loss)
{
	return loss != LOSS_PIPE_FULL && loss != LOSS_WIRE_GAP && loss != LOSS_LANES_FULL &&
	       loss != LOSS_TRACE_FULL && loss != LOSS_SCOPES_FULL && loss != LOSS_LEVELS &&
	       loss != LOSS_STEP_MEMORY && loss != LOSS_UNRECORDED && loss != LOSS_CONFIGS_FULL &&
	       loss != LOSS_PC_PLACES && loss != LOSS_PC_CUBINS && loss != LOSS_WARP_FILES &&
	       loss != LOSS_UNREWRITTEN;
}

/* Begins a note about losses that only a newer version counts. */
#define LOSS_NEWER "lost, and counted by a newer version of proton: "

const char *loss_word(enum loss loss);
const char *loss_sentence(enum loss loss);
enum { LOSS_TEXT_MAX = 320 };
/* The sentence behind a number: "record without …" behind 1. Returns out. */
const char *loss_text(enum loss loss, uint64_t n, char out[LOSS_TEXT_MAX]);

#endif
