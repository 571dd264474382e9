/* SPDX-License-Identifier: MIT */
/* What a module says of its kernels when it is loaded: how much local memory a thread has, of which records of CUPTI 13.0 say
 * 0. It stands in the cubin, so that the driver need not be asked from a callback, which a launch may be in:
 *
 *     .nv.info   format 1 byte, attribute 1 byte, then 2 bytes, or 2 of a size and as many
 *                … 4, MIN_STACK_SIZE, 8: symbol 4 bytes, bytes of stack 4 bytes */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "backends/cupti.h"
#include "base/elf_bytes.h"

enum {
	FORMAT_SIZED = 4,
	MIN_STACK_SIZE = 0x12, /* of a kernel, with all that it calls */
};
#define NONE_BYTES UINT32_MAX /* of one that calls itself, or what is not known */

struct info_entry {
	uint8_t format, attribute;
	uint16_t size; /* of what follows; in other formats the value */
};

struct stack {
	uint32_t symbol, bytes;
};

static void tell(struct cupti *c, const struct elf_bytes *cubin, uint32_t symbols,
		 const struct stack *stack)
{
	Elf64_Sym s;
	const char *name = "";

	if (elf_entry(elf_section(cubin, symbols), stack->symbol, &s, sizeof(s)))
		name = elf_text(cubin, elf_header(cubin, symbols).sh_link, s.st_name);
	if (*name && stack->bytes != NONE_BYTES)
		c->sink->ops->local_memory(c->sink, name, stack->bytes);
}

void cupti_modules_loaded(struct cupti *c, const struct abi_module_data *module)
{
	struct elf_bytes cubin;
	struct info_entry entry;
	struct elf_part info;
	struct stack stack;
	uint32_t section;

	if (!c->sink->ops->local_memory || !module || !module->cubin ||
	    !elf_bytes_open(&cubin, module->cubin, module->cubin_bytes, EM_CUDA))
		return;
	section = elf_find_section(&cubin, ".nv.info");
	info = elf_section(&cubin, section);
	while (elf_entry(info, 0, &entry, sizeof(entry))) {
		size_t size = sizeof(entry);

		if (entry.format == FORMAT_SIZED)
			size += entry.size;
		if (size > info.size)
			return;
		if (entry.format == FORMAT_SIZED && entry.attribute == MIN_STACK_SIZE &&
		    entry.size == sizeof(stack)) {
			memcpy(&stack, info.at + sizeof(entry), sizeof(stack));
			tell(c, &cubin, elf_header(&cubin, section).sh_link, &stack);
		}
		info = (struct elf_part){info.at + size, info.size - size};
	}
}
