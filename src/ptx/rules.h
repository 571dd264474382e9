/* SPDX-License-Identifier: MIT */
#ifndef PROTON_PTX_RULES_H
#define PROTON_PTX_RULES_H
/* Where kernels are to record, as somebody says it: an option, or a file with a rule a line.
 *
 *     func,loop                        what is probed when nobody says anything
 *     loop:iter                        each turn of each loop
 *     loc matmul.py:40-52              what comes from these lines
 *     bar,wait,mma,wgmma,tma,ld,st     instructions of a kind: groups of those that follow one another
 *     label $L__BB0_3                  from a label to the next branch
 *     match ^fma\.                     instructions that a regular expression (POSIX, extended) finds, to the line's end
 *     kernel matmul*                   only kernels of such names (as a shell's patterns)
 *     skip *_init                      … but for these
 *     limit 64                         scopes of a kernel that are probed
 *
 * A comma or a line's end ends a rule; "=" is as good as a blank behind its word; "#" in front of one, or behind a
 * blank, begins a comment, to the line's end; not in a regular expression.
 *   thread  any, once they are read */
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*	id     word     takes          what is probed */
#define PTX_ANCHORS(_)                                                                             \
	_(FUNC, "func", NONE, "the kernel")                                                        \
	_(LOOP, "loop", NONE, "each loop, from before it to behind it")                            \
	_(LOOP_ITER, "loop:iter", NONE, "each turn of each loop")                                  \
	_(LOC, "loc", LINES, "what comes from lines of a file")                                    \
	_(BAR, "bar", NONE, "barriers of blocks and clusters")                                     \
	_(WAIT, "wait", NONE, "waits for copies, mbarriers and wgmma")                             \
	_(MMA, "mma", NONE, "groups of mma and wmma")                                              \
	_(WGMMA, "wgmma", NONE, "groups of wgmma, from fence to commit")                           \
	_(TMA, "tma", NONE, "bulk copies, as they are started")                                    \
	_(LD, "ld", NONE, "loads of global memory, as they are started")                           \
	_(ST, "st", NONE, "stores to global memory, as they are started")                          \
	_(LABEL, "label", NAME, "from a label to the next branch")                                 \
	_(MATCH, "match", REGEX, "instructions that a regular expression finds")

enum ptx_anchor {
#define _(id, word, takes, what) PTX_##id,
	PTX_ANCHORS(_)
#undef _
		N_PTX_ANCHORS
};

struct ptx_rule {
	enum ptx_anchor anchor;
	char *text;           /* the file's name, the label, the expression; NULL: none */
	uint32_t first, last; /* lines */
	regex_t regex;        /* of PTX_MATCH */
};

struct ptx_rules {
	struct ptx_rule *rule;
	size_t n, cap;
	char **only, **skip; /* patterns of kernels' names */
	size_t n_only, cap_only, n_skip, cap_skip;
	uint32_t limit; /* probes of a kernel */
};

#define PTX_RULES_USUAL "func,loop"
#define PTX_LIMIT_USUAL 64

/* What somebody said in an option (base/said_rules.h), read as rules: *ret is freed with ptx_rules_free(). */
int ptx_rules_said(const char *said, struct ptx_rules **ret, struct buf *ret_why);
/* The same of text. */
int ptx_rules_parse(const char *text, size_t n, struct ptx_rules **ret, struct buf *ret_why);
struct ptx_rules *ptx_rules_free(struct ptx_rules *rules); /* NULL */
/* Is a kernel of this name to be probed? */
bool ptx_rules_want(const struct ptx_rules *rules, const char *kernel);

#endif
