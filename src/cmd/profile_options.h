/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_PROFILE_OPTIONS_H
#define PROTON_CMD_PROFILE_OPTIONS_H
/* Options that say what of a profile to show, and how. `report` and `view` share them; `viewer` and
 * `top` use some. */
#include <stdbool.h>
#include "cmd/code.h"
#include "cmd/load.h"
#include "cmd/options.h"
#include "core/least.h"
#include "core/snapshot.h"
#include "format/format.h"
#include "report/report.h"

struct profile_options {
	struct report_options report; /* has pointers to selectors and peaks below */
	enum group group;
	bool flat;          /* --flat: the kernels alone were asked for */
	const char *before; /* --diff-profile: a file, or NULL */
	bool list, no_pager;
	struct loading loading;
	struct selector *include, *exclude;
	bool names_only; /* these two are expressions of names, whatever they look like */
	struct peaks *peaks;
	struct code_places code;
};

enum {
	PROFILE_OPT_METRICS = 3000,
	PROFILE_OPT_LIST,
	PROFILE_OPT_INCLUDE,
	PROFILE_OPT_EXCLUDE,
	PROFILE_OPT_KEEP_TOTALS,
	PROFILE_OPT_FORMAT,
	PROFILE_OPT_PRINT_SORTED,
	PROFILE_OPT_PEAKS,
	PROFILE_OPT_NO_PAGER,
	PROFILE_OPT_KEEP_GOING,
	PROFILE_OPT_DIFF,
	PROFILE_OPT_DEPTH,
	PROFILE_OPT_FOLD,
	PROFILE_OPT_BY,
	PROFILE_OPT_GRAPH_SHARES,
	PROFILE_OPT_GRAPH_ANNOTATIONS,
	PROFILE_OPT_THRESHOLD,
	PROFILE_OPT_SOURCE_PATH,
	PROFILE_OPT_CUBINS
};
/* Not for commands with a screen, which have the same two in SCREEN_OPTIONS. */
/* clang-format off */
#define PROFILE_FILTER_OPTIONS(is_rare)                                                            \
	{.name = "include", .letter = 'i', .arg = "SELECTOR",                                      \
	 .help = "only paths through names, 'time > 1ms' or '**/a*/b'", .rare = (is_rare),         \
	 .id = PROFILE_OPT_INCLUDE},                                                               \
	{.name = "exclude", .letter = 'e', .arg = "SELECTOR",                                      \
	 .help = "without what it selects, and all below", .rare = (is_rare),                      \
	 .id = PROFILE_OPT_EXCLUDE}
/* clang-format on */
/* Options that `top` has as well. is_rare: are all but the first rare? levels: what -d says of itself,
 * which are levels of what is printed, or of a screen. */
#define PROFILE_LEVELS        "levels of the tree (all)"
#define PROFILE_LEVELS_SCREEN "levels of the tree that are open (the hottest paths)"
/* clang-format off */
#define PROFILE_COLUMN_OPTIONS(is_rare, levels)                                                    \
	{.name = "metrics", .letter = 'm', .arg = "LIST",                                          \
	 .help = "columns, as total,%,calls or any of proton-metrics(7)",                          \
	 .id = PROFILE_OPT_METRICS},                                                               \
	{.name = "threshold", .letter = 't', .arg = "X[%]",                                        \
	 .help = "leave out what has less than X (1ms, 4MiB), X% of all", .rare = (is_rare),          \
	 .id = PROFILE_OPT_THRESHOLD},                                                             \
	{.name = "depth", .letter = 'd', .arg = "N", .help = (levels), .rare = (is_rare),          \
	 .id = PROFILE_OPT_DEPTH},                                                                 \
	{.name = "peaks", .arg = "FILE", .help = "peaks of devices, as in data/peaks.txt",         \
	 .rare = true, .id = PROFILE_OPT_PEAKS}
#define PROFILE_FOLD_OPTION                                                                        \
	{.name = "fold-numbers", .help = "one row for names that only count up: 'iter #'",         \
	 .rare = true, .id = PROFILE_OPT_FOLD}
#define PROFILE_BY_OPTION                                                                          \
	{.name = "by", .arg = "all|scopes|torch|python|line|native",                               \
	 .help = "which calling contexts are shown (all); line: the innermost one", .rare = true,  \
	 .id = PROFILE_OPT_BY}
#define PROFILE_GRAPH_OPTIONS                                                                      \
	{.name = "graph-annotations", .arg = "FILE",                                               \
	 .help = "what PyTorch says of nodes of CUDA graphs, of the trace of the same process",    \
	 .rare = true, .id = PROFILE_OPT_GRAPH_ANNOTATIONS},                                       \
	{.name = "graph-shares", .arg = "FILE",                                                    \
	 .help = "divide whole CUDA graphs by the shares that their nodes have in FILE",           \
	 .rare = true, .id = PROFILE_OPT_GRAPH_SHARES}
#define PROFILE_CODE_OPTIONS                                                                       \
	{.name = "source-path", .arg = "FOLDER", .help = "look for source files below it, too",    \
	 .rare = true, .id = PROFILE_OPT_SOURCE_PATH},                                             \
	{.name = "cubins", .arg = "FOLDER",                                                        \
	 .help = "of the code that samples are of (FILE.cubins)", .rare = true,                    \
	 .id = PROFILE_OPT_CUBINS}
#define PROFILE_OPTIONS(levels)                                                                    \
	PROFILE_COLUMN_OPTIONS(false, levels),                                                     \
	{.name = "list", .letter = 'l', .help = "list the metrics of the profile",                 \
	 .id = PROFILE_OPT_LIST},                                                                  \
	{.name = "keep-totals", .help = "count what is filtered out, too", .rare = true,           \
	 .id = PROFILE_OPT_KEEP_TOTALS},                                                           \
	{.name = "format", .letter = 'f',                                                          \
	 .arg = "full|file_function_line|function_line|file_function",                             \
	 .help = "what to keep of file:line@function", .rare = true, .id = PROFILE_OPT_FORMAT},    \
	{.name = "print-sorted", .help = "after the tree, its nodes by the first column",          \
	 .rare = true, .id = PROFILE_OPT_PRINT_SORTED},                                            \
	{.name = "diff-profile", .arg = "FILE",                                                    \
	 .help = "show what has been added since this profile (also -diff FILE)", .rare = true,    \
	 .id = PROFILE_OPT_DIFF},                                                                  \
	PROFILE_FOLD_OPTION,                                                                       \
	PROFILE_BY_OPTION,                                                                         \
	PROFILE_GRAPH_OPTIONS,                                                                     \
	{.name = "keep-going", .letter = 'k',                                                      \
	 .help = "name a file that cannot be read, leave it out, exit with 1 at the end",          \
	 .rare = true, .id = PROFILE_OPT_KEEP_GOING},                                              \
	{.name = "no-pager", .help = "print to the terminal itself", .rare = true,                 \
	 .id = PROFILE_OPT_NO_PAGER}
/* clang-format on */

/* 0: taken; -EINVAL: bad value; -ENOENT: not one of these; another: a line on stderr says why. */
int profile_option(struct profile_options *o, const struct option_def *option, const char *value);
/* Add the peaks of a file to *peaks; if that is NULL, it is made with the built-in ones first. On
 * failure a line on stderr says why. */
int peaks_load(struct peaks **peaks, const char *path);
const struct peaks *profile_peaks(
	struct profile_options *o); /* those given, else those measured and the built-in ones */
const struct peaks *
profile_table_peaks(struct profile_options *o); /* those given, or the built-in ones */
void profile_options_done(struct profile_options *o);
/* An expression of whole names. 0, or a line on stderr says what is wrong with it. */
int option_expression(struct name_pattern *p, const char *value);
/* 0, or a line on stderr says what is wrong with a selector. */
int option_selector(struct selector **ret, const char *value);
/* Replace "-diff" by "--diff-profile". Python's argparse takes it; we would read "-d iff". */
void profile_options_spell(int argc, char **argv);

/* The views of a list of words, "tree,kernels", into o->report. The name of a function may have commas:
 * "callers=NAME" is the last one. 0, or -EBADMSG and a line on stderr. */
int parse_views(struct profile_options *o, const char *words);
int parse_group(const char *word, enum group *ret);
int parse_names(const char *word, uint8_t *ret);

/* If a word of a list is not a column, print it, with similar names. False: all are columns. */
bool complain_column(const struct session *s, const char *words, const char *option);

/* A limit has a unit that the first of these columns has not; NULL: the time. */
void complain_limit(const char *words);
/* Say so, if a limit has. */
bool complain_least(const struct least *x, const struct session *s);

/* If a selector (NULL: there is none) compares a column that a session has not, say so. may_come: it may
 * get one later. False: it can select. */
bool complain_selector(const struct selector *x, const struct session *s, const char *option,
		       bool may_come);
bool complain_selectors(const struct profile_options *o, const struct session *s, bool may_come);
/* Why -i may leave nothing; its text, which a hint needs. */
void complain_hint(enum filter_hint hint, const char *include);

/* Say what a file that was written cannot say itself. */
void complain_notes(const char *path, const struct write_notes *notes);

#endif
