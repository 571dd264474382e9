/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_PC_ABI_H
#define PROTON_BACKENDS_CUPTI_PC_ABI_H
/* CUPTI's PC sampling (CUDA 11.3 and later): where in its code a device is, at an interval. Declared as the rest is
 * (cupti_abi.h); each structure begins with its size, up to its last member. */
#include <stddef.h>
#include <stdint.h>

enum abi_pc_attribute {
	ABI_PC_PERIOD = 1, /* 2^n cycles */
	ABI_PC_SCRATCH_BYTES = 3,
	ABI_PC_BUFFER_BYTES = 4,
	ABI_PC_MODE = 5,
	ABI_PC_START_STOP = 6,
	ABI_PC_FORMAT = 7,
	ABI_PC_DATA = 8,
};

enum abi_pc_mode { ABI_PC_CONTINUOUS = 1, ABI_PC_SERIALIZED = 2 };
#define ABI_PC_PARSED     1u
#define ABI_PC_NAME_BYTES 128 /* of a reason */
#define ABI_PC_PERIOD_MIN 5
#define ABI_PC_PERIOD_MAX 31

struct abi_pc_reason {
	uint32_t index, n;
};

struct abi_pc_record {
	size_t size;
	uint64_t cubin, offset;
	uint32_t function_index, pad;
	/* One for all records of a function, until its module is unloaded; made anew when that is loaded again
	 * (bench/RESULTS.md). Not ours to free: a record to come may have it, and of two modules with the same
	 * code nothing says whose it is. */
	char *function;
	size_t n_reasons;
	struct abi_pc_reason *reasons;
	uint32_t correlation; /* ABI_VERSION_12_4, of ABI_PC_SERIALIZED */
};
#define ABI_PC_RECORD_BYTES_11 56u /* without it */

struct abi_pc_data {
	size_t size;
	size_t n_max;
	uint64_t n_samples, n_dropped;
	size_t n, n_remaining;
	uint64_t range;
	struct abi_pc_record *records;
	uint64_t n_of_system;
	uint8_t is_full; /* the hardware's buffer */
};

struct abi_pc_setting {
	uint32_t attribute, ret_status;
	union {
		uint64_t data[3];
		uint32_t number;
		size_t bytes;
		void *pointer;
	};
};

/* Of enable and disable. */
struct abi_pc_context {
	size_t size;
	void *reserved, *context;
};

struct abi_pc_settings {
	size_t size;
	void *reserved, *context;
	size_t n;
	struct abi_pc_setting *settings;
};

struct abi_pc_get {
	size_t size;
	void *reserved, *context;
	struct abi_pc_data *data;
};

struct abi_pc_count {
	size_t size;
	void *reserved, *context;
	size_t *ret_n;
};

struct abi_pc_reasons {
	size_t size;
	void *reserved, *context;
	size_t n;
	uint32_t *ret_indices;
	char **ret_names;
};

struct abi_pc_crc {
	size_t size;
	size_t cubin_bytes;
	const void *cubin;
	uint64_t ret_crc;
};

/* Needs neither a device nor a driver. Its strings are freed by who asked. */
struct abi_pc_source {
	size_t size;
	const void *cubin;
	const char *function;
	size_t cubin_bytes;
	uint32_t ret_line;
	uint64_t offset;
	char *ret_file, *ret_folder;
};

#define ABI_PC_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)NULL)->last))

/* All return a CUptiResult; none is there before CUDA 11.3. */
#define ABI_PC_FUNCTIONS(_)                                                                        \
	_(OPTIONAL, cuptiPCSamplingEnable, (struct abi_pc_context *))                              \
	_(OPTIONAL, cuptiPCSamplingDisable, (struct abi_pc_context *))                             \
	_(OPTIONAL, cuptiPCSamplingSetConfigurationAttribute, (struct abi_pc_settings *))          \
	_(OPTIONAL, cuptiPCSamplingGetData, (struct abi_pc_get *))                                 \
	_(OPTIONAL, cuptiPCSamplingGetNumStallReasons, (struct abi_pc_count *))                    \
	_(OPTIONAL, cuptiPCSamplingGetStallReasons, (struct abi_pc_reasons *))                     \
	_(OPTIONAL, cuptiGetCubinCrc, (struct abi_pc_crc *))

#endif
