/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_NATIVE_MODULES_H
#define PROTON_COLLECT_NATIVE_MODULES_H
/* What code lies at an address: the file that was loaded there, and the address in it.
 *
 * Nothing here takes the loader's lock. A library that is unloaded leaves its addresses to another one:
 * what is kept of an address holds while native_unloads() stays the same. */
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* What its frames are to whoever looks at a stack. */
enum native_role {
	NATIVE_PLAIN,
	NATIVE_LEAF,        /* ours and the vendor's: left out where the stack ends */
	NATIVE_ROOT,        /* of libc: left out where it begins */
	NATIVE_INTERPRETER, /* of Python: its frames say more */
	NATIVE_NOWHERE,     /* of no module, perhaps made at run time */
};

struct native_module {
	uintptr_t start, end, bias;
	uintptr_t unwinding; /* its PT_GNU_EH_FRAME; 0: it has none */
	uint32_t id;         /* of the collector's modules; WIRE_NONE: none */
	uint8_t role;        /* enum native_role */
};

enum {
	NATIVE_HEADERS_MAX = 32, /* of a file that are looked at */
	NATIVE_NOTES_MAX = 1024, /* bytes of notes, by segment */
};

/* What a look needs of memory: a signal's stack may be small. */
struct native_module_scratch {
	char name[PATH_MAX], path[PATH_MAX];
	ElfW(Phdr) headers[NATIVE_HEADERS_MAX];
	_Alignas(8) unsigned char notes[NATIVE_NOTES_MAX];
};

/* Is it known what is loaded and, exactly, when something goes? Else *ret_why. At the start. */
bool native_modules_init(const char **ret_why);
/* Grows with each unloading, before and after. */
uint32_t native_unloads(void);
/* The module at an address, without a lock; some calls of the kernel. */
void native_module_at(uintptr_t at, struct native_module_scratch *scratch,
		      struct native_module *ret);

#endif
