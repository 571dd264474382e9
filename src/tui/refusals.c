/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/refusals.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"

/* What a read-only screen refuses. */
static const bool refused_read_only[REQ_N] = {
	[REQ_PAUSE] = true, [REQ_SAVE] = true,   [REQ_SAVE_LAYOUT] = true,
	[REQ_TYPE] = true,  [REQ_SIGNAL] = true, [REQ_EDIT] = true,
};

#define NO_PROGRAM "no program was started that "
#define ONE_WAY    "it runs elsewhere, and streams have one direction"

/* What means nothing where the program is not ours: there is no way back to one that runs elsewhere. */
static const char *const refused[TUI_N_SOURCES][REQ_N] = {
	[TUI_OF_STREAMS] =
		{
			[REQ_PAUSE] = "cannot pause from here: " ONE_WAY,
			[REQ_RESYNC] = "cannot ask again from here: " ONE_WAY,
			[REQ_TYPE] = "cannot type from here: " ONE_WAY,
			[REQ_SIGNAL] = "cannot signal from here: " ONE_WAY,
			[REQ_SAVE] = "it runs elsewhere, and is saved there; here 'top -o FILE' "
				     "keeps what comes",
		},
	[TUI_OF_DEVICES] =
		{
			[REQ_PAUSE] = NO_PROGRAM "could be paused",
			[REQ_RESYNC] = NO_PROGRAM "could send again",
			[REQ_RESET] = NO_PROGRAM "is counted",
			[REQ_UNRESET] = NO_PROGRAM "is counted",
			[REQ_TYPE] = NO_PROGRAM "reads what is typed",
			[REQ_SIGNAL] = NO_PROGRAM "could be signalled",
			[REQ_SAVE] = "'top -o FILE' keeps what devices say",
		},
};

const char *request_refusal(const struct tui *t, enum request request)
{
	if (refused[t->options.source][request])
		return refused[t->options.source][request];
	return t->options.readonly && refused_read_only[request] ? "read only" : NULL;
}

bool request_is_useless(const struct tui *t, enum request request)
{
	static const bool of_program[REQ_N] = {
		[REQ_FREEZE] = true, [REQ_PAUSE] = true,  [REQ_RESET] = true, [REQ_UNRESET] = true,
		[REQ_SAVE] = true,   [REQ_RESYNC] = true, [REQ_TYPE] = true,  [REQ_SIGNAL] = true};

	if ((!t->options.live || t->options.source == TUI_OF_DEVICES) && request >= REQ_PANEL_1 &&
	    request < REQ_PANEL_1 + TUI_N_PANELS)
		return !tui_has_panel(t, (enum tui_panel)(request - REQ_PANEL_1));
	return request_refusal(t, request) || (of_program[request] && !t->options.live) ||
	       (request == REQ_GROUP && t->options.before && !t->host.regroup) ||
	       (request == REQ_SAVE && !t->host.request) ||
	       (request == REQ_COMPARE && !t->host.compare);
}
