/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_PC_SAMPLER_H
#define PROTON_BACKENDS_CUPTI_PC_SAMPLER_H
/* CUPTI's PC sampling of one context: in which instruction its multiprocessors are, at an interval.
 *
 *   open ── read ── read … ── close
 *
 *   errors  a result of CUPTI (enum abi_result); `at` says of which call
 *   thread  one at a time */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backends/cupti_abi.h"

enum {
	PC_SAMPLER_RECORDS = 2048, /* that CUPTI gives at a time */
	PC_SAMPLER_REASONS = 96,
	PC_SAMPLER_BUFFER_MIB = 64, /* of the hardware's buffer, unless another is asked for */
};

struct pc_buffer {
	struct abi_pc_data data;
	struct abi_pc_record record[PC_SAMPLER_RECORDS];
	struct abi_pc_reason reason[PC_SAMPLER_RECORDS][PC_SAMPLER_REASONS];
};

struct pc_sampler {
	const struct cupti_api *api;
	void *context;
	size_t n_reasons;
	struct {
		uint8_t reason; /* enum pc_reason */
		bool is_known, is_not_issued;
	} reason[2 * PC_SAMPLER_REASONS]; /* by CUPTI's index */
	struct pc_buffer *ours,
		*theirs; /* of what is read; that CUPTI fills when it is disabled. Never freed */
	const char *at;  /* what failed */
};

struct pc_sampler_settings {
	uint32_t period; /* 2^n cycles */
	uint32_t buffer_mib;
	bool is_exact; /* kernels one after the other */
};

/* Is all there that it takes: this library is of CUDA 11.3 or later? */
bool pc_sampler_has(const struct cupti_api *api);
/* From here on it samples. version: of the library. A sampler that was open before goes on with its buffers. */
uint32_t pc_sampler_open(struct pc_sampler *s, const struct cupti_api *api, uint32_t version,
			 void *context, const struct pc_sampler_settings *settings);
/* One portion, into ours->data; what is there no longer is not read again. */
uint32_t pc_sampler_read(struct pc_sampler *s);
/* It samples no longer; the rest is in theirs->data. */
void pc_sampler_close(struct pc_sampler *s);

#endif
