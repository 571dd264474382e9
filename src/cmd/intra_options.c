/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/intra_options.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/said_rules.h"
#include "base/util.h"
#include "cmd/kernel_mode.h"
#include "cmd/triton_told.h"
#include "core/intra_wanted.h"
#include "ptx/rules.h"
#include "report/print_line.h"

/* Which warps record is said in two ways, and both hold. */
static int join_warps(uint32_t of_mode, struct scopes_wanted *w)
{
	if (of_mode == INTRA_ALL_WARPS)
		return STATUS_OK;
	w->warps = w->warps ? w->warps & of_mode : of_mode;
	if (w->warps)
		return STATUS_OK;
	complain("--intra-mode and --kernel-scopes have no warp in common: none would record");
	return STATUS_USAGE;
}

/* What does not change the code is for whoever reads what was recorded. */
static int settle_mode(const char *said, struct scopes_wanted *w)
{
	char text[INTRA_WHY_MAX];
	struct intra_mode mode;

	if (kernel_mode_parse(said, &mode) < 0)
		return STATUS_USAGE;
	if (intra_mode_ignored(&mode, text))
		complain("--intra-mode: %s", text);
	w->time_shift |= (mode.optimizations & INTRA_TIME_SHIFT) != 0;
	return join_warps(mode.warps, w);
}

/* What the rules are, whose file is the user's and not the program's to find. */
static int settle_rules(const char *said, char **ret_text)
{
	_cleanup_(buf_done) struct buf text = {0}, why = {0};
	struct ptx_rules *rules = NULL;
	int r = said_rules_read(said, &text, &why);

	if (r == 0)
		r = ptx_rules_parse(buf_str(&text), text.len, &rules, &why);
	ptx_rules_free(rules);
	if (r == 0)
		*ret_text = strdup(buf_str(&text));
	if (r == 0 && *ret_text)
		return STATUS_OK;
	complain("--intra: %s", why.len ? buf_str(&why) : strerror(ENOMEM));
	return STATUS_USAGE;
}

int intra_options_settle(struct run_options *o)
{
	struct intra_wanted *w = &o->intra;
	int r;

	if (!o->is_intra) {
		if (!o->intra_mode && !o->rec.wanted.backends.intra_all &&
		    !o->rec.wanted.backends.intra_s)
			return STATUS_OK;
		complain(
			"--intra-mode, --intra-all and --intra-limit say how --intra does it, which is "
			"not given");
		return STATUS_USAGE;
	}
	if (o->intra_rules && triton_is_meant(o->intra_rules))
		return triton_is_told(o->intra_rules, o->intra_mode);
	r = settle_mode(o->intra_mode, &o->rec.wanted.scopes);
	if (r == 0)
		r = settle_rules(o->intra_rules ? o->intra_rules : PTX_RULES_USUAL, &w->rules);
	if (r)
		return r;
	w->mode = strdup(o->intra_mode ? o->intra_mode : "default");
	w->has_all = o->rec.wanted.backends.intra_all;
	o->rec.intra = w;
	if (!o->rec.wanted.backends.intra_s)
		o->rec.wanted.backends.intra_s = INTRA_LIMIT_S;
	return w->mode ? STATUS_OK : STATUS_OURS;
}

void intra_options_done(struct run_options *o)
{
	intra_wanted_done(&o->intra);
}
