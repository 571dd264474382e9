/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_VIEW_H
#define PROTON_CORE_VIEW_H
/* What a profile can be looked at as, by the words of options and settings: one list for the screen,
 * which has a panel for some (tui/tui.h), and for reports, which have a text for some
 * (report/report.h). Those that have a text are printed in this order. */
#include <stddef.h>

/*         name        word */
#define VIEWS(_)                                                                                   \
	_(RUN, "run")                                                                              \
	_(SUMMARY, "summary")                                                                      \
	_(STEPS, "steps")                                                                          \
	_(TREE, "tree")                                                                            \
	_(KERNELS, "kernels")                                                                      \
	_(LAUNCHES, "launches")                                                                    \
	_(SOURCE, "source")                                                                        \
	_(TRANSFERS, "transfers")                                                                  \
	_(BOTTOM_UP, "bottom-up")                                                                  \
	_(CALLERS, "callers")                                                                      \
	_(FLAME, "flame")                                                                          \
	_(MEMORY, "memory")                                                                        \
	_(HOST, "host")                                                                            \
	_(API, "api")                                                                              \
	_(RANKS, "ranks")                                                                          \
	_(FINDINGS, "findings")                                                                    \
	_(DEVICES, "devices")                                                                      \
	_(COUNTERS, "counters")                                                                    \
	_(PROCESSES, "processes")                                                                  \
	_(LOSSES, "losses")                                                                        \
	_(NOTES, "notes")                                                                          \
	_(ROOFLINE, "roofline")                                                                    \
	_(TIMELINE, "timeline")                                                                    \
	_(WARPS, "warps")                                                                          \
	_(DURATIONS, "durations")                                                                  \
	_(LOG, "log")

enum view {
#define _(name, word) VIEW_##name,
	VIEWS(_)
#undef _
		VIEW_N
};

const char *view_word(enum view view);
/* The view of a word of so many characters, or VIEW_N. */
enum view view_find(const char *word, size_t len);

#endif
