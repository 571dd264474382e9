/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_pc_sampler.h"
#include "backends/pages.h"
#include "base/util.h"
#include "core/pc_samples.h"

#define SCRATCH_BYTES ((size_t)8 << 20)

bool pc_sampler_has(const struct cupti_api *api)
{
	return api->cuptiPCSamplingEnable && api->cuptiPCSamplingDisable &&
	       api->cuptiPCSamplingSetConfigurationAttribute && api->cuptiPCSamplingGetData &&
	       api->cuptiPCSamplingGetNumStallReasons && api->cuptiPCSamplingGetStallReasons &&
	       api->cuptiGetCubinCrc;
}

/* Empty, be it a new one or one that CUPTI has filled: the number of reasons in it is then that of what it held. */
static void buffer_ready(uint32_t version, struct pc_buffer **b, size_t n_reasons)
{
	if (!*b)
		*b = pages_reserve(sizeof(**b));
	if (!*b)
		return;
	(*b)->data = (struct abi_pc_data){
		.size = sizeof((*b)->data), .n_max = PC_SAMPLER_RECORDS, .records = (*b)->record};
	for (size_t i = 0; i < PC_SAMPLER_RECORDS; i++)
		(*b)->record[i] = (struct abi_pc_record){.size = version >= ABI_VERSION_12_4
									 ? sizeof((*b)->record[i])
									 : ABI_PC_RECORD_BYTES_11,
							 .n_reasons = n_reasons,
							 .reasons = (*b)->reason[i]};
}

/* Which number is which reason, as the library names them on this device. */
static uint32_t learn_reasons(struct pc_sampler *s)
{
	static char text[PC_SAMPLER_REASONS][ABI_PC_NAME_BYTES];
	static uint32_t indices[PC_SAMPLER_REASONS];
	char *names[PC_SAMPLER_REASONS];
	struct abi_pc_count count = {ABI_PC_SIZE(abi_pc_count, ret_n), NULL, s->context,
				     &s->n_reasons};
	struct abi_pc_reasons reasons = {
		ABI_PC_SIZE(abi_pc_reasons, ret_names), NULL, s->context, 0, indices, names};
	uint32_t result = s->api->cuptiPCSamplingGetNumStallReasons(&count);

	if (result != ABI_OK)
		return result;
	if (!s->n_reasons || s->n_reasons > PC_SAMPLER_REASONS)
		return ABI_UNSUPPORTED;
	for (size_t i = 0; i < s->n_reasons; i++)
		names[i] = text[i];
	reasons.n = s->n_reasons;
	result = s->api->cuptiPCSamplingGetStallReasons(&reasons);
	for (size_t i = 0; result == ABI_OK && i < s->n_reasons; i++) {
		bool not_issued;
		enum pc_reason reason = pc_reason_of(text[i], &not_issued);

		if (indices[i] >= ARRAY_SIZE(s->reason))
			return ABI_UNSUPPORTED;
		s->reason[indices[i]].reason = (uint8_t)reason;
		s->reason[indices[i]].is_not_issued = not_issued;
		s->reason[indices[i]].is_known = true;
	}
	return result;
}

static uint32_t configure(struct pc_sampler *s, const struct pc_sampler_settings *wanted)
{
	struct abi_pc_setting settings[] = {
		{.attribute = ABI_PC_PERIOD, .number = wanted->period},
		{.attribute = ABI_PC_BUFFER_BYTES, .bytes = (size_t)wanted->buffer_mib << 20},
		{.attribute = ABI_PC_SCRATCH_BYTES, .bytes = SCRATCH_BYTES},
		{.attribute = ABI_PC_MODE,
		 .number = wanted->is_exact ? ABI_PC_SERIALIZED : ABI_PC_CONTINUOUS},
		{.attribute = ABI_PC_DATA, .pointer = &s->theirs->data},
	};
	struct abi_pc_settings all = {ABI_PC_SIZE(abi_pc_settings, settings), NULL, s->context,
				      ARRAY_SIZE(settings), settings};

	return s->api->cuptiPCSamplingSetConfigurationAttribute(&all);
}

void pc_sampler_close(struct pc_sampler *s)
{
	struct abi_pc_context params = {ABI_PC_SIZE(abi_pc_context, context), NULL, s->context};

	s->api->cuptiPCSamplingDisable(&params);
}

/* It is on, and has no settings yet. */
static uint32_t prepare(struct pc_sampler *s, uint32_t version,
			const struct pc_sampler_settings *settings)
{
	uint32_t result;

	s->at = "cuptiPCSamplingGetStallReasons";
	result = learn_reasons(s);
	if (result != ABI_OK)
		return result;
	buffer_ready(version, &s->ours, s->n_reasons);
	buffer_ready(version, &s->theirs, s->n_reasons);
	s->at = "cuptiPCSamplingSetConfigurationAttribute";
	return s->ours && s->theirs ? configure(s, settings) : ABI_NO_MEMORY;
}

uint32_t pc_sampler_open(struct pc_sampler *s, const struct cupti_api *api, uint32_t version,
			 void *context, const struct pc_sampler_settings *settings)
{
	struct abi_pc_context params = {ABI_PC_SIZE(abi_pc_context, context), NULL, context};
	uint32_t result;

	s->api = api;
	s->context = context;
	s->at = "cuptiPCSamplingEnable";
	result = api->cuptiPCSamplingEnable(&params);
	if (result != ABI_OK)
		return result;
	result = prepare(s, version, settings);
	if (result != ABI_OK)
		pc_sampler_close(s);
	return result;
}

/* Each record says how many reasons there are, and reads how many there may be. */
uint32_t pc_sampler_read(struct pc_sampler *s)
{
	struct abi_pc_get get = {ABI_PC_SIZE(abi_pc_get, data), NULL, s->context, &s->ours->data};

	s->at = "cuptiPCSamplingGetData";
	for (size_t i = 0; i < PC_SAMPLER_RECORDS; i++)
		s->ours->data.records[i].n_reasons = s->n_reasons;
	return s->api->cuptiPCSamplingGetData(&get);
}
