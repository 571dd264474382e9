/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_refusals.h"
#include <stddef.h>
#include "backends/cupti_abi.h"
#include "backends/cupti_host_abi.h"
#include "base/util.h"

enum {
	ANY = CUPTI_SAMPLES_COUNTERS | CUPTI_COUNTS_RANGES | CUPTI_SAMPLES_CODE,
	SAMPLES = CUPTI_SAMPLES_COUNTERS | CUPTI_SAMPLES_CODE,
};

static const struct {
	uint32_t result;
	unsigned of; /* enum cupti_counting */
	const char *text;
} refusals[] = {
	{ABI_NO_PRIVILEGE, ANY,
	 "the driver keeps hardware counters for administrators: it takes " CUPTI_PERMITTED_BY},
	{ABI_NO_PRIVILEGE_VIRTUAL, ANY, "the host of this virtual machine does not permit them"},
	{ABI_BUSY, ANY,
	 "another tool has the hardware counters of this GPU: DCGM ('dcgmi profile --pause' gives "
	 "them back), Nsight Compute, or another run of proton"},
	{ABI_PART, ANY, "a part of a GPU (MIG) has no hardware counters that can be read"},
	{ABI_CONFIDENTIAL, ANY, "the GPU is in confidential computing mode, which permits none"},
	{ABI_NOT_UNDER_WSL, ANY, "CUPTI has none of Windows' driver (WSL)"},
	{ABI_BAD_OPERATION, CUPTI_SAMPLES_COUNTERS, "they are being sampled already"},
	{ABI_BAD_OPERATION, CUPTI_SAMPLES_CODE,
	 "another context of the GPU is sampled, or it runs under MPS"},
	{ABI_NO_MEMORY, CUPTI_SAMPLES_CODE,
	 "the GPU has no memory left for its buffer; a smaller one is "
	 "--pc-sampling=PERIOD,buffer=SIZE"},
	{ABI_UNSUPPORTED, SAMPLES, "the GPU, or its driver, cannot be sampled"},
	{ABI_HOST_BAD_NAME, CUPTI_COUNTS_RANGES, "this GPU has not all of these metrics"},
};

const char *cupti_refusal(enum cupti_counting what, uint32_t result)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (refusals[i].result == result && refusals[i].of & what)
			return refusals[i].text;
	return NULL;
}
