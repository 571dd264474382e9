/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_RUN_OPTIONS_H
#define PROTON_CMD_RUN_OPTIONS_H
/* The options of the commands that run a program: record and top. */
#include <stdio.h>
#include "cmd/options.h"
#include "core/run_wanted.h"
#include "launch/launch.h"
#include "live/run.h"

enum run_switch {
	SWITCH_trace,
#define _(field, word, help) SWITCH_##field,
	RUN_SWITCHES(_) BACKEND_SWITCHES(_)
#undef _
		N_SWITCHES
};

enum {
	OPT_OUTPUT = 1000,
	OPT_TAPE,
	OPT_NO_PRELOAD,
	OPT_NO_FOLLOW,
	OPT_EARLY,
	OPT_WAIT,
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_COUNT,
	OPT_STRICT,
	OPT_SAVE,
	OPT_TRACE_MAX,
	OPT_TRACE_WINDOW,
	OPT_INTRA_TRACE,
	OPT_CONTEXT,
	OPT_BUDGET,
	OPT_GRAPHS,
	OPT_STEPS,
	OPT_GRAPH_SHARES,
	OPT_NO_SENSORS,
	OPT_COUNTERS,
	OPT_PC_SAMPLING,
	OPT_KERNEL_SCOPES,
	OPT_INTRA,
	OPT_INTRA_MODE,
	OPT_INTRA_LIMIT,
	OPT_LABEL,
	OPT_SAVE_ENV,
	OPT_SWITCH,                               /* + SWITCH_* */
	OPT_NO_BACKEND = OPT_SWITCH + N_SWITCHES, /* + SOURCE_*; the last */
};

#define OPTION_NO_BACKEND(id_, name_, door, word, title, variable, unseen, about)                  \
	{.name = "no-" word,                                                                       \
	 .help = "leave " title " alone",                                                          \
	 .rare = true,                                                                             \
	 .id = OPT_NO_BACKEND + SOURCE_##id_},

#define OPTION_SWITCH(field, word, about)                                                          \
	{.name = word, .help = about, .rare = true, .id = OPT_SWITCH + (int)SWITCH_##field},

/* clang-format off */
#define RUN_OPTIONS                                                                                \
	{.name = "output", .letter = 'o', .arg = "FILE",                                           \
	 .help = "write the profile to FILE (%p pid, %e program, %h host, %r rank, %t time, %q{VAR})",      \
	 .id = OPT_OUTPUT},                                                                        \
	{.name = "tape", .arg = "FILE", .help = "keep the raw stream of the run in FILE",          \
	 .rare = true, .id = OPT_TAPE},                                                            \
	{.name = "save-interval", .arg = "SECONDS",                                                \
	 .help = "write the profile this often while APP runs (1)", .rare = true, .id = OPT_SAVE}, \
	{.name = "trace", .help = "keep when each operation ran, for a timeline",                  \
	 .id = OPT_SWITCH + (int)SWITCH_trace},                                                                         \
	{.name = "trace-limit", .arg = "N",                                                        \
	 .help = "keep the first N operations of a process (1000000)", .rare = true,               \
	 .id = OPT_TRACE_MAX},                                                                     \
	{.name = "trace-window", .arg = "WINDOW",                                                  \
	 .help = "trace a part only: time:A-B (seconds), steps:A-B, nvtx:NAME, cuda-profiler", .rare = true,  \
	 .id = OPT_TRACE_WINDOW},                                                                  \
	{.name = "context", .arg = "LIST",                                                         \
	 .help = "what calling contexts are made of (auto)",                                        \
	 .list_values = list_contexts, .id = OPT_CONTEXT},                                         \
	{.name = "budget", .arg = "PERCENT",                                                       \
	 .help = "of APP's time, to read contexts in: 5%, off (auto: 5%, else off)",               \
	 .rare = true, .id = OPT_BUDGET},                                                          \
	{.name = "graphs", .arg = "nodes|whole|auto",                                              \
	 .help = "what is recorded of CUDA graphs: each node, or each launch (auto: nodes)",        \
	 .list_values = list_graphs, .rare = true, .id = OPT_GRAPHS},                              \
	{.name = "steps", .arg = "NAME",                                                           \
	 .help = "scopes of APP that are its steps: NAME, 'NAME #' (that count up), off (auto)",    \
	 .list_values = list_steps, .rare = true, .id = OPT_STEPS},                                \
	{.name = "graph-shares", .arg = "FILE",                                                    \
	 .help = "record graphs whole, divide them by the shares that their nodes have in FILE",   \
	 .rare = true, .id = OPT_GRAPH_SHARES},                                                    \
	BACKEND_SWITCHES(OPTION_SWITCH)                                                            \
	RUN_SWITCHES(OPTION_SWITCH)                                                                \
	{.name = "no-sensors", .help = "leave clocks, power and memory of the devices alone",      \
	 .rare = true, .id = OPT_NO_SENSORS},                                                      \
	{.name = "counters", .arg = "INTERVAL", .optional = true,                                  \
	 .help = "hardware counters of devices, this often (10ms), off", .id = OPT_COUNTERS}, \
	{.name = "pc-sampling", .arg = "PERIOD", .optional = true,                                 \
	 .help = "sample code of kernels, every so many cycles (2^18)",                 \
	 .id = OPT_PC_SAMPLING},                                                                   \
	{.name = "kernel-scopes", .arg = "LIST",                                                   \
	 .help = "who records scopes within kernels: warps=0,4-7, blocks=16, multiprocessors=4, off", .rare = true, \
	 .id = OPT_KERNEL_SCOPES},                                                                 \
	{.name = "intra", .arg = "RULES", .optional = true,                                        \
	 .help = "time parts of kernels on their warps' clocks (func,loop)", .rare = true, .id = OPT_INTRA},     \
	{.name = "intra-mode", .arg = "MODE",                                                      \
	 .help = "… how, as Triton's Proton says it: default:optimizations=clock32",               \
	 .rare = true, .id = OPT_INTRA_MODE},                                                      \
	{.name = "intra-limit", .arg = "SECONDS",                                                  \
	 .help = "… and how long rewriting a module may take (60)", .rare = true,                  \
	 .id = OPT_INTRA_LIMIT},                                                                   \
	{.name = "intra-trace", .arg = "LAUNCHES,SIZE", .optional = true,                          \
	 .help = "keep single warps' scopes within kernels: of so many launches of each (6,64MiB)", \
	 .rare = true, .id = OPT_INTRA_TRACE},                                                                   \
	{.name = "label", .arg = "TEXT", .help = "what you call this run", .rare = true,           \
	 .id = OPT_LABEL},                                                                         \
	{.name = "save-env", .arg = "NAMES",                                                       \
	 .help = "keep these variables of the environment (CUDA_*,OMP_NUM_THREADS)",               \
	 .rare = true, .id = OPT_SAVE_ENV},                                                        \
	{.name = "wait", .help = "stay until APP's descendants have ended too", .rare = true,      \
	 .id = OPT_WAIT},                                                                          \
	{.name = "quiet", .letter = 'q', .help = "print no summary", .id = OPT_QUIET},             \
	{.name = "verbose", .letter = 'v', .help = "say more about what is done",                  \
	 .rare = true, .id = OPT_VERBOSE},                                                         \
	{.name = "no-count-launches",                                                              \
	 .help = "no CUPTI callbacks while there is one calling context", .rare = true,            \
	 .id = OPT_COUNT},                                                                         \
	{.name = "strict", .help = "exit with 125 when the profile cannot be written",             \
	 .rare = true, .id = OPT_STRICT},                                                          \
	{.name = "no-preload", .help = "do not set LD_PRELOAD", .rare = true,                      \
	 .id = OPT_NO_PRELOAD},                                                                    \
	{.name = "no-follow", .help = "profile APP itself only, not its children",                 \
	 .rare = true, .id = OPT_NO_FOLLOW},                                                                     \
	BACKENDS_OF_USERS(OPTION_NO_BACKEND)                                                       \
	{.name = "early", .help = "start the collector before main(), not at its first work",       \
	 .rare = true, .id = OPT_EARLY}
/* clang-format on */

/* Signal dispositions that we were started with: programs get them back. */
extern struct launch_origin arg_origin;

/* The values of --context, --graphs and --steps, a line each. */
void list_contexts(FILE *out);
void list_graphs(FILE *out);
void list_steps(FILE *out);

/* Read the file of --graph-shares, where it was given. 0, or an exit status after a line on stderr. */
int run_options_settle(struct run_options *o);
void run_options_done(struct run_options *o);

/* 0: taken; -EINVAL: bad value; -ENOENT: not one of these. */
int run_option(struct run_options *o, const struct option_def *option, const char *value);

#endif
