/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_PROGRAMS_NVTX_CORE_H
#define PROTON_TESTS_PROGRAMS_NVTX_CORE_H
/* NVTX's core functions as a program has them that was built with its header: those of the injection library. */
#include <stdlib.h>
#include "collect/nvtx_abi.h"
#include "programs/symbols.h"

enum { N_NVTX = 16 };

static nvtx_function core[N_NVTX], *table[N_NVTX];

static int get_table(int32_t module, nvtx_function ***ret_table, unsigned *ret_size)
{
	*ret_table = table;
	*ret_size = N_NVTX;
	return module == NVTX_MODULE_CORE;
}

static const void *get_export(uint32_t id)
{
	static struct nvtx_export_callbacks callbacks = {sizeof(callbacks), get_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void nvtx_init(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	int (*init)(nvtx_get_export_fn *);

	for (int i = 1; i < N_NVTX; i++)
		table[i] = &core[i];
	if (!path)
		exit(2);
	*(void **)&init = find(path, "InitializeInjectionNvtx2");
	init(get_export);
}

#endif
