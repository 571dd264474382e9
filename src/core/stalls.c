/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What warps wait for, in words. */
#include <stdio.h>
#include "base/util.h"
#include "core/source.h"

/* clang-format off */
static const struct {
	const char *word, *brief, *text, *meaning;
} stalls[PC_N_REASONS] = {
	[PC_LONG_SCOREBOARD] = {"long scoreboard", "long sb", "waits for global or local memory",
		"What a load from global, local, texture or surface memory brings is needed: have fewer, larger or nearer accesses, or more warps meanwhile."},
	[PC_WAIT] = {"wait", "wait", "waits the fixed time of the instruction before",
		"The instruction before takes so long by design: more warps or independent instructions hide it."},
	[PC_SHORT_SCOREBOARD] = {"short scoreboard", "shrt sb", "waits for shared memory or a special function",
		"The result of shared memory, of a special function or of a conversion is needed; bank conflicts make it longer."},
	[PC_SELECTED] = {"selected", "issued", "issued an instruction",
		"The warp was chosen and issued: no time was lost."},
	[PC_NOT_SELECTED] = {"not selected", "not sel", "was ready while another warp issued",
		"There are more ready warps than the scheduler can take: no time was lost."},
	[PC_MATH_PIPE] = {"math pipe throttle", "math", "waits for a pipe of arithmetic",
		"The pipe that the instruction needs is busy: the kernel is bound by that arithmetic."},
	[PC_BRANCH_RESOLVING] = {"branch resolving", "branch", "waits for a branch",
		"Where the program goes on is being computed: have fewer jumps."},
	[PC_NO_INSTRUCTION] = {"no instruction", "no inst", "waits for its instructions",
		"The code was not in the instruction cache, or jumps led out of it: make loops shorter."},
	[PC_TEX_THROTTLE] = {"tex throttle", "tex", "waits for room in the queue of the texture unit",
		"More texture or surface accesses were issued than the unit takes."},
	[PC_BARRIER] = {"barrier", "barrier", "waits for other warps at a barrier",
		"Warps of the block are not there yet: spread work evenly, or synchronize less."},
	[PC_MEMBAR] = {"membar", "membar", "waits for a memory fence",
		"Writes before the fence must be seen first: use fences of a narrower scope, or fewer."},
	[PC_IMC_MISS] = {"imc miss", "imc", "waits for constants",
		"An immediate constant was not in its cache: threads of a warp should read the same one."},
	[PC_MIO_THROTTLE] = {"mio throttle", "mio", "waits for room in the queue of shared memory",
		"More instructions of shared memory, special functions or branches were issued than their queue takes."},
	[PC_DRAIN] = {"drain", "drain", "waits for its writes before it ends",
		"The warp has ended but for what it wrote: write coalesced."},
	[PC_LG_THROTTLE] = {"lg throttle", "lg", "waits for room in the queue of global memory",
		"More loads and stores of global or local memory were issued than their queue takes: have fewer and wider ones."},
	[PC_MISC] = {"misc", "misc", "waits for something else",
		"CUPTI says no more than that."},
	[PC_DISPATCH] = {"dispatch stall", "dispat", "is held back by the dispatcher",
		"The dispatcher waits for what it would need to issue, such as ports of registers."},
	[PC_SLEEPING] = {"sleeping", "sleep", "sleeps",
		"The kernel asked for it (nanosleep)."},
	[PC_GMMA] = {"gmma", "gmma", "waits for a matrix product of the warp group",
		"An asynchronous product of the tensor cores is needed: that they work is meant."},
	[PC_WARPGROUP] = {"warpgroup arrive", "warpgrp", "waits for the other warps of its group",
		"The four warps of a group must come together before a matrix product."},
	[PC_OTHER] = {"other", "other", "waits for what this version does not know",
		"CUPTI told a reason that is in no list here."},
};
/* clang-format on */

const char *stall_text(enum pc_reason reason)
{
	return stalls[reason].text;
}

const char *stall_word(enum pc_reason reason)
{
	return stalls[reason].word;
}

const char *stall_brief(enum pc_reason reason)
{
	return stalls[reason].brief;
}

const char *stall_meaning(enum pc_reason reason)
{
	return stalls[reason].meaning;
}

unsigned source_top(const struct source_mix *mix, enum pc_reason ret[STALLS_TOP])
{
	unsigned n = 0;

	for (int i = 0; i < PC_N_REASONS; i++) {
		unsigned at = n;

		if (i == PC_SELECTED || !(mix->by[i] > 0))
			continue;
		while (at && mix->by[ret[at - 1]] < mix->by[i])
			at--;
		if (at == STALLS_TOP)
			continue;
		n = MIN(n + 1, (unsigned)STALLS_TOP);
		for (unsigned k = n - 1; k > at; k--)
			ret[k] = ret[k - 1];
		ret[at] = (enum pc_reason)i;
	}
	return n;
}

const char *source_top_text(const struct source_mix *mix, unsigned most, char out[STALLS_TEXT_MAX])
{
	enum pc_reason top[STALLS_TOP];
	unsigned n = source_top(mix, top);
	size_t at = 0;

	snprintf(out, STALLS_TEXT_MAX, "-");
	for (unsigned i = 0; i < MIN(n, most); i++)
		at += (size_t)snprintf(out + at, STALLS_TEXT_MAX - at, "%s%s %.0f", i ? ", " : "",
				       stall_word(top[i]),
				       100 * mix->by[top[i]] / source_stalled(mix));
	return out;
}
