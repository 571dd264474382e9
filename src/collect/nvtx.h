/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_NVTX_H
#define PROTON_COLLECT_NVTX_H
/* The door that programs with NVTX annotations open (NVTX_INJECTION64_PATH). */
#include "collect/collect.h"
#include "collect/nvtx_abi.h"

/* 1: we are the injection of this shared object; 0: its loader is not one that we know. */
EXPORT int InitializeInjectionNvtx2(nvtx_get_export_fn *get_export);
/* 1: we take part in this extension; 0: not. */
EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension_info *info);

#endif
