/* SPDX-License-Identifier: MIT */
/* What a module says of its kernels when it is loaded: how much local memory a thread has, of which records of CUPTI 13.0 say
 * 0. It stands in the cubin, so that the driver need not be asked from a callback, which a launch may be in:
 *
 *     .nv.info   format 1 byte, attribute 1 byte, then 2 bytes, or 2 of a size and as many
 *                … 4, MIN_STACK_SIZE, 8: symbol 4 bytes, bytes of stack 4 bytes */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "backends/cuda_arena.h"
#include "backends/cupti.h"
#include "base/elf_bytes.h"
#include "intra/warp_arena.h"

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

/* How much local memory its kernels have. */
static void find_stacks(struct cupti *c, const struct elf_bytes *cubin)
{
	struct info_entry entry;
	struct elf_part info;
	struct stack stack;
	uint32_t section = elf_find_section(cubin, ".nv.info");

	info = elf_section(cubin, section);
	while (elf_entry(info, 0, &entry, sizeof(entry))) {
		size_t size = sizeof(entry);

		if (entry.format == FORMAT_SIZED)
			size += entry.size;
		if (size > info.size)
			return;
		if (entry.format == FORMAT_SIZED && entry.attribute == MIN_STACK_SIZE &&
		    entry.size == sizeof(stack)) {
			memcpy(&stack, info.at + sizeof(entry), sizeof(stack));
			tell(c, cubin, elf_header(cubin, section).sh_link, &stack);
		}
		info = (struct elf_part){info.at + size, info.size - size};
	}
}

/* ---- scopes within kernels ---- */

/* What stands in a module for each that its kernels have (include/proton/kernel.cuh): the text behind it ends with 0. */
struct scope_name {
	char magic[8];
	uint32_t scope, line;
};
#define SCOPE_MAGIC "PRTNSCP1"

static void find_names(struct cupti *c, struct elf_part in)
{
	struct scope_name name;
	const uint8_t *at;
	size_t len;

	while ((at = memmem(in.at, in.size, SCOPE_MAGIC, sizeof(name.magic)))) {
		in = (struct elf_part){at, in.size - (size_t)(at - in.at)};
		if (!elf_entry(in, 0, &name, sizeof(name)))
			return;
		in = (struct elf_part){in.at + sizeof(name), in.size - sizeof(name)};
		len = strnlen((const char *)in.at, in.size);
		if (len && len < in.size)
			c->sink->ops->kernel_scope(c->sink, name.scope, (const char *)in.at, len);
	}
}

/* The variable of such kernels: what it is called depends on how the module was made, and with which header. */
static void find_arena(const struct elf_bytes *cubin)
{
	uint32_t symbols = elf_find_type(cubin, SHT_SYMTAB);
	Elf64_Sym s;

	for (uint64_t i = 0; elf_entry(elf_section(cubin, symbols), i, &s, sizeof(s)); i++) {
		const char *name = elf_text(cubin, elf_header(cubin, symbols).sh_link, s.st_name);

		if (strstr(name, WARP_ARENA_FAMILY))
			cuda_arena_symbol(name);
	}
}

void cupti_modules_missed(struct cupti *c, const char *why)
{
	char text[192];

	c->sink->ops->lose(c->sink, LOSS_WARP_LAUNCHES, 1);
	snprintf(text, sizeof(text), "scopes within some kernels are not in this profile: %s", why);
	c->sink->ops->note(c->sink, text);
}

bool cupti_modules_loaded(struct cupti *c, const struct abi_module_data *module)
{
	struct elf_bytes cubin;

	if (!module || !module->cubin ||
	    !elf_bytes_open(&cubin, module->cubin, module->cubin_bytes, EM_CUDA))
		return false;
	if (c->sink->ops->local_memory)
		find_stacks(c, &cubin);
	if (!c->sink->ops->kernel_scope ||
	    !memmem(module->cubin, module->cubin_bytes, SCOPE_MAGIC, strlen(SCOPE_MAGIC)))
		return false;
	find_names(c, (struct elf_part){(const uint8_t *)module->cubin, module->cubin_bytes});
	find_arena(&cubin);
	return true;
}
