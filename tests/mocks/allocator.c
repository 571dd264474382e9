/* SPDX-License-Identifier: MIT */
/* A library that allocates for who calls it, by a function that it is given. */
#include "config.h" // IWYU pragma: keep
#include <stddef.h>
#include <stdint.h>

uint64_t allocator_get(uint32_t (*alloc)(uint64_t *, size_t), size_t bytes);

__attribute__((visibility("default"))) uint64_t allocator_get(uint32_t (*alloc)(uint64_t *, size_t),
							      size_t bytes)
{
	uint64_t address = 0;

	return alloc(&address, bytes) ? 0 : address;
}
