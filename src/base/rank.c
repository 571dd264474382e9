/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/rank.h"
#include "base/util.h"

/* The first of these variables that says something. */
static const char *first_set(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *v = getenv(names[i]);

		if (v && *v)
			return v;
	}
	return NULL;
}

const char *rank_text(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK", "PALS_RANKID",
		"MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "RANK"};

	return first_set(names, ARRAY_SIZE(names));
}

/* Slurm has the tasks of a job in the script of a batch, too, which is no rank: those of a step it has not. */
long rank_n(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					    "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
					    "WORLD_SIZE"};
	const char *v = first_set(names, ARRAY_SIZE(names));

	return v ? strtol(v, NULL, 10) : 0;
}
