/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/native_cfi.h"
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/util.h"

/* Registers of x86-64 by their numbers in DWARF. */
enum { REG_FP = 6, REG_SP = 7, REG_RA = 16 };

/* How pointers are written (DW_EH_PE_*): the lower half says how long. */
enum {
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_LENGTH = 0x07, /* of signed ones, too */
	PE_PCREL_SDATA4 = 0x1b,
	PE_DATAREL_SDATA4 = 0x3b,
};

enum {
	STATES_MAX = 16, /* remembered within one another */
	BLOCK = 64,      /* entries of the table that are read at once */
};

bool native_peek(uintptr_t at, void *out, size_t size)
{
	struct iovec to = {out, size}, from = {(void *)at, size};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* ---- bytes ---- */

struct bytes {
	const uint8_t *p, *end;
	bool is_bad; /* it ended too early */
};

static uint64_t take(struct bytes *b, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->p) < n) {
		b->is_bad = true;
		b->p = b->end;
		return 0;
	}
	memcpy(&v, b->p, n); /* little-endian */
	b->p += n;
	return v;
}

static uint64_t take_leb(struct bytes *b, bool is_signed)
{
	unsigned shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take(b, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !b->is_bad);
	if (is_signed && byte & 0x40 && shift < 64)
		v |= UINT64_MAX << shift;
	return v;
}

static uint64_t take_uleb(struct bytes *b)
{
	return take_leb(b, false);
}

static int64_t take_sleb(struct bytes *b)
{
	return (int64_t)take_leb(b, true);
}

static struct bytes take_block(struct bytes *b)
{
	uint64_t n = take_uleb(b);
	struct bytes block = {b->p, b->p, false};

	if (n > (uint64_t)(b->end - b->p)) {
		b->is_bad = true;
		n = (uint64_t)(b->end - b->p);
	}
	block.end += n;
	b->p += n;
	return block;
}

static size_t pointer_size(uint8_t encoding)
{
	return (encoding & PE_LENGTH) == PE_UDATA2   ? 2
	       : (encoding & PE_LENGTH) == PE_UDATA4 ? 4
						     : 8;
}

/* ---- the table of functions ---- */

struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t n;
};

struct entry { /* both from the header on */
	int32_t function, fde;
};

/* What linkers write; there is no other form of it in practice. */
static bool read_header(uintptr_t at, struct header *h)
{
	return native_peek(at, h, sizeof(*h)) && h->version == 1 &&
	       h->frame_encoding == PE_PCREL_SDATA4 && h->count_encoding == PE_UDATA4 &&
	       h->table_encoding == PE_DATAREL_SDATA4;
}

/* The last function that begins at or before an address. */
static bool find_function(uintptr_t header, uintptr_t at, struct entry *ret)
{
	uintptr_t table = header + sizeof(struct header);
	int64_t wanted = (int64_t)(at - header);
	struct entry block[BLOCK];
	uint32_t low = 0, n, middle;
	struct header h;

	if (!read_header(header, &h))
		return false;
	for (n = h.n; n > BLOCK;) {
		middle = n / 2;
		if (!native_peek(table + (low + middle) * sizeof(*block), block, sizeof(*block)))
			return false;
		if (block->function <= wanted) {
			low += middle;
			n -= middle;
		} else {
			n = middle;
		}
	}
	if (!n || !native_peek(table + low * sizeof(*block), block, n * sizeof(*block)))
		return false;
	while (n && block[n - 1].function > wanted)
		n--;
	if (!n)
		return false;
	*ret = block[n - 1];
	return true;
}

/* ---- a function's records ---- */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses in its FDEs */
	bool has_extra;   /* FDEs have a block of their own before the program */
	bool is_signal;
	struct bytes program;
};

/* A record with its length, whole: nothing of it is longer than there is room for. */
static bool read_record(uintptr_t at, uint8_t *out, size_t size, struct bytes *ret)
{
	uint32_t length;

	if (!native_peek(at, &length, sizeof(length)) || length < sizeof(length) || length > size ||
	    !native_peek(at + sizeof(length), out, length))
		return false;
	*ret = (struct bytes){out, out + length, false};
	return true;
}

/* "zR", "zPLR", "zRS": what each letter has in the block. */
static bool read_extra(struct bytes *b, const char *letters, struct cie *c)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			c->encoding = (uint8_t)take(b, 1);
			break;
		case 'P':
			take(b, pointer_size((uint8_t)take(b, 1)));
			break;
		case 'L':
			take(b, 1);
			break;
		case 'S':
			c->is_signal = true;
			break;
		default:
			return false;
		}
	}
	return !b->is_bad;
}

static bool read_cie(uintptr_t at, uint8_t *out, size_t size, struct cie *ret)
{
	struct bytes b, extra;
	const char *letters;
	uint8_t version;

	*ret = (struct cie){0};
	if (!read_record(at, out, size, &b) || take(&b, 4) != 0)
		return false;
	version = (uint8_t)take(&b, 1);
	letters = (const char *)b.p;
	if (!memchr(b.p, '\0', (size_t)(b.end - b.p)))
		return false;
	b.p += strlen(letters) + 1;
	ret->code_align = take_uleb(&b);
	ret->data_align = take_sleb(&b);
	if (version == 1)
		take(&b, 1);
	else
		take_uleb(&b); /* the register of return addresses */
	if (*letters == 'z') {
		extra = take_block(&b);
		ret->has_extra = true;
		if (!read_extra(&extra, letters + 1, ret))
			return false;
	} else if (*letters) {
		return false;
	}
	ret->program = b;
	return !b.is_bad;
}

/* ---- the program ---- */

enum { RA_SAVED, RA_NONE, RA_ELSEWHERE };

struct row {
	uint64_t cfa_register;
	int64_t cfa, fp;
	uint8_t cfa_is; /* CFA_SP (of whatever register), CFA_FP_AT or CFA_UNKNOWN */
	uint8_t fp_is, ra_is;
};

struct machine {
	const struct cie *cie;
	struct row row, first, states[STATES_MAX];
	unsigned n_states;
	uint64_t at, wanted; /* from the function's beginning */
};

/* One operand that is a register's offset: "breg6 N", and behind it what `then` says; false: another
 * expression. */
static bool is_fp_plus(struct bytes block, const char *then, size_t n, int64_t *ret)
{
	enum { OP_BREG_FP = 0x70 + REG_FP };

	if (take(&block, 1) != OP_BREG_FP)
		return false;
	*ret = take_sleb(&block);
	return !block.is_bad && (size_t)(block.end - block.p) == n && !memcmp(block.p, then, n);
}

static void set_saved(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg == REG_FP) {
		m->row.fp_is = FP_CFA;
		m->row.fp = offset;
	} else if (reg == REG_RA) {
		m->row.ra_is = offset == -8 ? RA_SAVED : RA_ELSEWHERE;
	}
}

static void set_lost(struct machine *m, uint64_t reg)
{
	if (reg == REG_FP)
		m->row.fp_is = FP_LOST;
	else if (reg == REG_RA)
		m->row.ra_is = RA_ELSEWHERE;
}

static void set_first(struct machine *m, uint64_t reg)
{
	if (reg == REG_FP) {
		m->row.fp_is = m->first.fp_is;
		m->row.fp = m->first.fp;
	} else if (reg == REG_RA) {
		m->row.ra_is = m->first.ra_is;
	}
}

static void set_undefined(struct machine *m, uint64_t reg)
{
	if (reg == REG_FP)
		m->row.fp_is = FP_LOST;
	else if (reg == REG_RA)
		m->row.ra_is = RA_NONE;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row.cfa_is = CFA_SP;
	m->row.cfa_register = reg;
	m->row.cfa = offset;
}

static void set_cfa_block(struct machine *m, struct bytes block)
{
	static const char deref[] = {0x06};

	m->row.cfa_is =
		is_fp_plus(block, deref, sizeof(deref), &m->row.cfa) ? CFA_FP_AT : CFA_UNKNOWN;
}

/* Saved where an expression says. */
static void set_saved_block(struct machine *m, uint64_t reg, struct bytes block)
{
	if (reg == REG_FP && is_fp_plus(block, "", 0, &m->row.fp))
		m->row.fp_is = FP_FP;
	else
		set_lost(m, reg);
}

static void push_state(struct machine *m, struct bytes *b)
{
	if (m->n_states == STATES_MAX)
		b->is_bad = true;
	else
		m->states[m->n_states++] = m->row;
}

static void pop_state(struct machine *m, struct bytes *b)
{
	if (!m->n_states)
		b->is_bad = true;
	else
		m->row = m->states[--m->n_states];
}

static int64_t factored(const struct machine *m, uint64_t n)
{
	return (int64_t)(n * (uint64_t)m->cie->data_align);
}

/* Instructions without an operand in their first byte (DW_CFA_*). */
static void run_extended(struct machine *m, uint8_t op, struct bytes *b)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x02: /* advance_loc1 */
	case 0x03: /* … 2 */
	case 0x04: /* … 4 */
		m->at += take(b, (size_t)1 << (op - 2)) * m->cie->code_align;
		break;
	case 0x05: /* offset_extended */
		reg = take_uleb(b);
		set_saved(m, reg, factored(m, take_uleb(b)));
		break;
	case 0x06: /* restore_extended */
		set_first(m, take_uleb(b));
		break;
	case 0x07: /* undefined */
		set_undefined(m, take_uleb(b));
		break;
	case 0x08: /* same_value */
		reg = take_uleb(b);
		if (reg == REG_FP)
			m->row.fp_is = FP_SAME;
		break;
	case 0x09: /* register */
		set_lost(m, take_uleb(b));
		take_uleb(b);
		break;
	case 0x0a: /* remember_state */
		push_state(m, b);
		break;
	case 0x0b: /* restore_state */
		pop_state(m, b);
		break;
	case 0x0c: /* def_cfa */
		reg = take_uleb(b);
		set_cfa(m, reg, (int64_t)take_uleb(b));
		break;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, take_uleb(b), m->row.cfa);
		break;
	case 0x0e: /* def_cfa_offset */
		m->row.cfa = (int64_t)take_uleb(b);
		break;
	case 0x0f: /* def_cfa_expression */
		set_cfa_block(m, take_block(b));
		break;
	case 0x10: /* expression */
		reg = take_uleb(b);
		set_saved_block(m, reg, take_block(b));
		break;
	case 0x11: /* offset_extended_sf */
		reg = take_uleb(b);
		set_saved(m, reg, factored(m, (uint64_t)take_sleb(b)));
		break;
	case 0x12: /* def_cfa_sf */
		reg = take_uleb(b);
		set_cfa(m, reg, factored(m, (uint64_t)take_sleb(b)));
		break;
	case 0x13: /* def_cfa_offset_sf */
		m->row.cfa = factored(m, (uint64_t)take_sleb(b));
		break;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		set_lost(m, take_uleb(b));
		take_uleb(b);
		break;
	case 0x16: /* val_expression */
		set_lost(m, take_uleb(b));
		take_block(b);
		break;
	case 0x2e: /* GNU_args_size */
		take_uleb(b);
		break;
	default:
		b->is_bad = true;
		break;
	}
}

/* Up to the address that is asked for. False: something in it is not known. */
static bool run(struct machine *m, struct bytes b)
{
	uint8_t op;

	while (b.p < b.end && m->at <= m->wanted && !b.is_bad) {
		op = (uint8_t)take(&b, 1);
		switch (op >> 6) {
		case 1: /* advance_loc */
			m->at += (op & 0x3f) * m->cie->code_align;
			break;
		case 2: /* offset */
			set_saved(m, op & 0x3f, factored(m, take_uleb(&b)));
			break;
		case 3: /* restore */
			set_first(m, op & 0x3f);
			break;
		default:
			run_extended(m, op, &b);
			break;
		}
	}
	return !b.is_bad;
}

static struct native_rule rule_of(const struct row *row)
{
	struct native_rule r = {(int32_t)row->cfa, (int32_t)row->fp, CFA_UNKNOWN, row->fp_is};

	if (row->ra_is == RA_NONE)
		r.cfa_is = CFA_END;
	else if (row->ra_is == RA_ELSEWHERE || row->cfa != r.cfa || row->fp != r.fp)
		r.cfa_is = CFA_UNKNOWN;
	else if (row->cfa_is == CFA_FP_AT)
		r.cfa_is = CFA_FP_AT;
	else if (row->cfa_is == CFA_SP && row->cfa_register == REG_SP)
		r.cfa_is = CFA_SP;
	else if (row->cfa_is == CFA_SP && row->cfa_register == REG_FP)
		r.cfa_is = CFA_FP;
	return r;
}

static const struct native_rule unknown = {.cfa_is = CFA_UNKNOWN};

struct native_rule native_cfi_rule(uintptr_t header, uintptr_t at,
				   struct native_cfi_scratch *scratch)
{
	struct machine m = {.row = {.fp_is = FP_SAME}};
	struct bytes fde;
	uint64_t size, back;
	struct entry e;
	struct cie cie;
	uintptr_t record;

	if (!find_function(header, at, &e))
		return unknown;
	record = header + (uintptr_t)(intptr_t)e.fde;
	if (!read_record(record, scratch->fde, sizeof(scratch->fde), &fde))
		return unknown;
	back = take(&fde, 4);
	if (!back || !read_cie(record + 4 - back, scratch->cie, sizeof(scratch->cie), &cie))
		return unknown;
	take(&fde, pointer_size(cie.encoding)); /* where it begins is in the table */
	size = take(&fde, pointer_size(cie.encoding));
	m.wanted = at - (header + (uintptr_t)(intptr_t)e.function);
	if (fde.is_bad || m.wanted >= size)
		return unknown;
	if (cie.is_signal)
		return (struct native_rule){.cfa_is = CFA_SIGNAL};
	if (cie.has_extra)
		take_block(&fde);
	m.cie = &cie;
	if (fde.is_bad || !run(&m, cie.program))
		return unknown;
	m.first = m.row;
	return run(&m, fde) ? rule_of(&m.row) : unknown;
}
