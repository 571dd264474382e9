/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#ifdef HAVE_LIBDW
#include "naming/object_debug.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* Where code of a unit is. Compilers may leave the table of these out, so it is made of the units. */
struct range {
	uint64_t low, high;
	Dwarf_Off unit;
};

struct object_debug {
	Dwarf *dwarf;
	struct range *ranges; /* by low */
	size_t n, cap;
};

/* ---- units ---- */

static int unit_add(struct object_debug *d, Dwarf_Die *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		if (low >= high)
			continue;
		if (ARRAY_ROOM(d->ranges, d->cap, d->n + 1) < 0)
			return -1;
		d->ranges[d->n++] = (struct range){low, high, dwarf_dieoffset(unit)};
	}
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int units_read(struct object_debug *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(d->dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && unit_add(d, &die) < 0)
			return -1;
	if (d->n)
		qsort(d->ranges, d->n, sizeof(*d->ranges), by_low);
	return 0;
}

struct object_debug *object_debug_new(Elf *elf)
{
	struct object_debug *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!d->dwarf || units_read(d) < 0 || !d->n)
		return object_debug_free(d);
	return d;
}

struct object_debug *object_debug_free(struct object_debug *d)
{
	if (!d)
		return NULL;
	dwarf_end(d->dwarf);
	free(d->ranges);
	free(d);
	return NULL;
}

/* The unit that an address is in. Ranges do not overlap, but of code that the linker threw away, which
 * begins at 0. */
static bool find_unit(struct object_debug *d, uint64_t address, Dwarf_Die *ret)
{
	size_t low = 0, high = d->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (d->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < d->ranges[low - 1].high &&
	       dwarf_offdie(d->dwarf, d->ranges[low - 1].unit, ret);
}

/* ---- functions ---- */

/* The symbol, or of a language without such the name. */
static const char *name_of(Dwarf_Die *die)
{
	static const unsigned linkage[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (size_t i = 0; !name && i < ARRAY_SIZE(linkage); i++)
		if (dwarf_attr_integrate(die, linkage[i], &attribute))
			name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static void set_line(Dwarf_Die *unit, uint64_t address, struct object_function *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (!line || dwarf_lineno(line, &number) != 0 || number <= 0)
		return;
	f->file = dwarf_linesrc(line, NULL, NULL);
	f->line = (uint32_t)number;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, ret) == 0;
}

/* Where a function that is inlined was called. */
static void set_call_line(Dwarf_Die *unit, Dwarf_Die *inlined, struct object_function *f)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (!number_of(inlined, DW_AT_call_file, &file) ||
	    !number_of(inlined, DW_AT_call_line, &line) ||
	    dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
		return;
	f->file = dwarf_filesrc(files, file, NULL, NULL);
	f->line = (uint32_t)line;
}

static void turn_round(struct object_function *f, unsigned n)
{
	for (unsigned i = 0; i < n / 2; i++) {
		struct object_function other = f[i];

		f[i] = f[n - 1 - i];
		f[n - 1 - i] = other;
	}
}

/* Scopes from the innermost on: functions inlined into one another, up to a real one. */
static unsigned take_functions(Dwarf_Die *unit, uint64_t address, Dwarf_Die *scopes, int n_scopes,
			       struct object_function ret[NATIVE_INLINED_MAX])
{
	unsigned n = 0;
	int tag;

	ret[0] = (struct object_function){0};
	set_line(unit, address, &ret[0]);
	for (int i = 0; i < n_scopes; i++) {
		tag = dwarf_tag(&scopes[i]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram &&
		    tag != DW_TAG_entry_point)
			continue;
		ret[n++].name = name_of(&scopes[i]);
		if (tag != DW_TAG_inlined_subroutine || n == NATIVE_INLINED_MAX)
			break;
		ret[n] = (struct object_function){0};
		set_call_line(unit, &scopes[i], &ret[n]);
	}
	if (!n)
		return ret[0].file != NULL;
	turn_round(ret, n);
	return n;
}

unsigned object_debug_functions(struct object_debug *d, uint64_t address,
				struct object_function ret[NATIVE_INLINED_MAX])
{
	_cleanup_(freep) Dwarf_Die *within = NULL;
	_cleanup_(freep) Dwarf_Die *scopes = NULL;
	Dwarf_Die unit, split, *tree = &unit;
	uint8_t type;
	int n;

	if (!find_unit(d, address, &unit))
		return 0;
	/* What is behind -gsplit-dwarf has the functions, the skeleton the lines. */
	if (dwarf_cu_info(unit.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
		tree = &split;
	n = dwarf_getscopes(tree, address, &within);
	/* Behind an inlined function come the scopes that it was written in: not those it was put in. */
	n = n > 0 ? dwarf_getscopes_die(&within[0], &scopes) : 0;
	return take_functions(&unit, address, scopes, n, ret);
}
#endif
