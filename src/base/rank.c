/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/rank.h"
#include "base/util.h"

const char *rank_text(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK", "PALS_RANKID",
		"MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK"};
	const char *v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		v = getenv(names[i]);
		if (v && *v)
			return v;
	}
	return NULL;
}
