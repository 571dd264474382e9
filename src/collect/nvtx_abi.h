/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_NVTX_ABI_H
#define PROTON_COLLECT_NVTX_ABI_H
/* What we use of NVTX 3's injection interface, in our own words. tests/unit/test_nvtx_abi.c compares it
 * with NVIDIA's headers where they are installed.
 *
 * A program that uses NVTX carries a table of function pointers. At its first NVTX call it loads
 * the library named by NVTX_INJECTION64_PATH and calls InitializeInjectionNvtx2() there, once for
 * each of its shared objects. The library asks for the tables and replaces what it wants. */
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum nvtx_export { NVTX_EXPORT_CALLBACKS = 1, NVTX_EXPORT_VERSION = 3 };
enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

/* A table is an array of pointers to where the program keeps its function pointers. */
typedef void (*nvtx_function)(void);

struct nvtx_export_callbacks {
	size_t struct_size;
	/* 1, or 0: no such module. ret_size: entries of the table. */
	int (*get_table)(int32_t module, nvtx_function ***ret_table, unsigned *ret_size);
};

typedef const void *nvtx_get_export_fn(uint32_t table);

/* Indices into the table of a module. */
enum nvtx_core {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A,
	NVTX_CORE_MARK_W,
	NVTX_CORE_RANGE_START_EX,
	NVTX_CORE_RANGE_START_A,
	NVTX_CORE_RANGE_START_W,
	NVTX_CORE_RANGE_END,
	NVTX_CORE_RANGE_PUSH_EX,
	NVTX_CORE_RANGE_PUSH_A,
	NVTX_CORE_RANGE_PUSH_W,
	NVTX_CORE_RANGE_POP,
};

enum nvtx_core2 {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_RANGE_START_EX,
	NVTX_CORE2_RANGE_END,
	NVTX_CORE2_RANGE_PUSH_EX,
	NVTX_CORE2_RANGE_POP,
	NVTX_CORE2_REGISTER_STRING_A = 10,
	NVTX_CORE2_REGISTER_STRING_W,
	NVTX_CORE2_CREATE_A,
	NVTX_CORE2_CREATE_W,
	NVTX_CORE2_DESTROY,
};

/* Extensions load the same library and call InitializeInjectionNvtxExtension() with arrays of slots
 * to fill. NCCL opens ranges by the tables above and closes them by the payload extension. */
enum nvtx_extension { NVTX_EXTENSION_PAYLOAD = 2 };

enum nvtx_payload {
	NVTX_PAYLOAD_MARK = 2,
	NVTX_PAYLOAD_RANGE_PUSH,
	NVTX_PAYLOAD_RANGE_POP,
	NVTX_PAYLOAD_RANGE_START,
	NVTX_PAYLOAD_RANGE_END,
	NVTX_PAYLOAD_IS_ENABLED,
};

struct nvtx_segment {
	size_t id, n_slots;
	intptr_t *slots; /* functions, as numbers */
};

struct nvtx_extension_info {
	uint16_t version, struct_size, module, compatibility;
	size_t n_segments;
	struct nvtx_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info;
};

enum nvtx_message {
	NVTX_MESSAGE_NONE = 0,
	NVTX_MESSAGE_A = 1,
	NVTX_MESSAGE_W = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size; /* of the caller's struct: fields beyond it are not there */
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type; /* enum nvtx_message */
	union {
		const char *ascii; /* in practice UTF-8 */
		const wchar_t *wide;
		const void *registered; /* what we returned when it was registered */
	} message;
};

#endif
