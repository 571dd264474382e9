/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TUI_H
#define PROTON_TUI_TUI_H
/* The screen: one snapshot, looked at through panels.
 *
 *     the program (cmd_top, cmd_view)                       the terminal (/dev/tty)
 *       poll(tty, pipe, timer …)  ── tui_handle_input() ──>  keys ─> requests
 *                                 ── tui_refresh()      ──>  snapshot_update(), draw
 *       struct tui_host           <── actions, status, log of the program
 *
 * The tui never prints to stdout or stderr and never exits. It waits for nothing but an editor that
 * the user has opened. It takes no signals, but tui_open() arms handlers for fatal ones, which give
 * the terminal back and pass the signal on.
 * The program calls setlocale(LC_ALL, "") first; where that is not UTF-8, the screen is ASCII.
 * Strings that it is given are borrowed for its life unless a line says otherwise.
 *   errors  functions return 0 or a negative errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "core/filter.h"
#include "core/least.h"
#include "core/snapshot.h"
#include "core/view.h"

/* On less than this nothing is drawn. */
#define TUI_MIN_ROWS 5
#define TUI_MIN_COLS 20

struct buf;
struct code_reader;
struct settings;
struct termios;
struct tui;
struct warp_source;

/* What the user asks of the program around the screen. */
enum tui_action {
	TUI_QUIT = 0, /* leave: there is no program, it has ended or was just told to (STOP_APP) */
	TUI_DETACH,   /* leave, let the program run on */
	TUI_STOP_APP, /* ask the program to end (SIGINT); the screen stays */
	TUI_SIGNAL,   /* send it the signal `arg` */
	TUI_PAUSE,    /* stop collecting */
	TUI_RESUME,
	TUI_RESYNC, /* have everything sent again */
	TUI_SAVE,   /* write the profile now */
};

enum tui_run {
	TUI_RUN_FILE = 0, /* there is no program */
	TUI_RUN_STARTING, /* not executed yet */
	TUI_RUN_RUNNING,
	TUI_RUN_ENDED,
};

/* Where what is live comes from. */
enum tui_source {
	TUI_OF_PROGRAM = 0, /* that was started for it */
	TUI_OF_STREAMS,     /* of runs that are elsewhere, once they have come */
	TUI_OF_DEVICES,     /* alone, whoever uses them */
	TUI_N_SOURCES
};

/* Values for the header lines, asked for at each refresh. */
struct tui_status {
	enum tui_run run;
	const char *target;     /* "train.py", or the file's name */
	const char *compared;   /* the file that it is compared with; NULL: none */
	uint32_t pid;           /* 0: none */
	uint32_t n_children;    /* further processes */
	int wait_status;        /* of waitpid(), when ENDED; -1: not known */
	const char *file;       /* the profile of a program that has ended; NULL: not written yet */
	const char *file_error; /* why it could not be written; NULL: it is */
	uint64_t up_ns;         /* since the program started, until it ended; 0 unknown */
	bool paused;            /* collection is */
	bool stopped;           /* the program stands still: ^Z, SIGSTOP */
	double own_cpu;         /* proton's share of one core, 0..; NaN unknown */
};

/* What the program gives. Each function may be NULL: the keys that need it then say so. */
struct tui_host {
	void *data; /* first argument of each */
	/* 0, or a negative errno that is shown. It may call tui_message() and tui_close(), but
	 * not tui_free(): it is called from within tui_key(). */
	int (*request)(void *data, enum tui_action action, int arg);
	void (*status)(void *data, struct tui_status *ret); /* *ret is zeroed before */
	/* The kept tail of the program's output, valid until the next call. *ret_start: how many
	 * bytes came before it and are gone. */
	const char *(*log)(void *data, size_t *ret_len, uint64_t *ret_start);
	/* Text for the program's terminal, as its keyboard would send it; len 0 only asks whether
	 * it would be taken. -ENOTTY: its input is not this terminal. -ESRCH: it has ended. */
	int (*input)(void *data, const char *text, size_t len);
	/* Compare with the profile in a file ("" = with none) from now on: the program makes a new
	 * screen. -errno: the file cannot be read, and nothing changes. */
	int (*compare)(void *data, const char *path);
	/* Group what is compared by something else: the program makes a new screen for that, too. */
	int (*regroup)(void *data, enum group group);
	/* Show the next kind of calling contexts of what is compared, likewise. */
	int (*next_contexts)(void *data);
};

/* The views (core/view.h) that have a panel, in the order of their tabs and of the keys PANEL_1 … in
 * keys.h.
 *        view       panel_<ops>_ops */
#define TUI_PANELS(_)                                                                              \
	_(TREE, tree)                                                                              \
	_(KERNELS, flat)                                                                           \
	_(MEMORY, memory)                                                                          \
	_(DEVICES, devices)                                                                        \
	_(LOSSES, losses)                                                                          \
	_(LOG, log)                                                                                \
	_(BOTTOM_UP, bottom_up)                                                                    \
	_(CALLERS, callers)                                                                        \
	_(FLAME, flame)                                                                            \
	_(ROOFLINE, roofline)                                                                      \
	_(DURATIONS, durations)                                                                    \
	_(RANKS, ranks)                                                                            \
	_(HOST, host)                                                                              \
	_(FINDINGS, findings)                                                                      \
	_(TIMELINE, timeline)                                                                      \
	_(LAUNCHES, launches)                                                                      \
	_(SOURCE, source)                                                                          \
	_(COUNTERS, counters)                                                                      \
	_(WARPS, warps)

enum tui_panel {
#define _(view, ops) TUI_PANEL_##view,
	TUI_PANELS(_)
#undef _
		TUI_N_PANELS
};

struct tui_options {
	bool live;              /* a program runs: windows, freeze, pause; else a saved profile */
	enum tui_source source; /* live: of what */
	bool sync;              /* its waits for the device are recorded */
	bool ascii;             /* no line drawing, no characters beyond ASCII */
	bool no_color;          /* NO_COLOR or --color=never */
	bool readonly;          /* no pause, no signals, no saving */
	bool no_mouse;          /* leave the mouse to the terminal */
	const char *theme;      /* NULL = "default"; see tui_theme_name() */
	const char *command;    /* "top", "view": follows "proton" in the header */
	const char *sort;   /* title of the tree's sort column ("total", "calls"); NULL = total */
	const char *filter; /* keep paths with this in a name; NULL = all */
	const char *include, *exclude; /* expressions, see core/filter.h; NULL = none */
	const char *metrics; /* columns of the tree, as report -m takes them; NULL = the usual */
	struct least least;  /* nodes with less are left out */
	uint32_t header;     /* lines above the panel; 0 = by the height of the screen */
	unsigned depth;      /* levels of the tree that are open at first; 0 = the hottest paths */
	const struct peaks *peaks;      /* for util and bound */
	const struct code_reader *code; /* for source; NULL: it has no texts */
	struct warp_source *warps;      /* single scopes of warps; NULL: none are kept */
	struct snapshot *before; /* what to compare with, of a pair (core/pair.h); NULL = nothing */
	enum group group;        /* of the pair */
	enum context_view contexts; /* of the pair */
	uint64_t interval_ns;       /* between refreshes, for the header; 0 = one second */
	enum tui_panel panel;       /* the first one shown */
	enum name_mode names;
	const struct settings *settings; /* keys, columns and orders; NULL = the usual ones */
	const char *config_dir;          /* where layouts are saved; NULL = nowhere */
	const char *tty;                 /* NULL = /dev/tty */
	const char *print_dir;           /* where `p` writes; NULL = current folder */
};

/* Why the columns asked for could not be made: -ENOENT no such metric, -EINVAL no such unit, -E2BIG
 * too many; 0: they are there. */
int tui_columns_error(const struct tui *t);
/* The first of them whose metric the running program does not have yet; NULL: all are there. */
const char *tui_missing_column(const struct tui *t);
/* What the tree is to be sorted by when the running program has it; NULL: it is. */
const char *tui_missing_sort(const struct tui *t);
/* Does the tree have a column of this title, in small or capital letters? */
bool tui_has_column(struct tui *t, const char *title);
/* NULL: out of memory. The snapshot stays the caller's and must live longer. */
struct tui *tui_new(const struct tui_options *options, struct snapshot *snap,
		    const struct tui_host *host);
/* Take over the view of another screen, which is to be freed next: panel, filters, names, orders,
 * and by path what is open, the zoom and the cursor. Before tui_open(). */
void tui_take_view(struct tui *t, struct tui *from);
struct tui *tui_free(struct tui *t); /* closes it too */
static inline void tui_freep(struct tui **t)
{
	*t = tui_free(*t);
}

/* Take the terminal. 0 or a negative errno; then tui_why() has a sentence without a full stop:
 * -ENXIO no terminal, -ENOTSUP it cannot do what is needed (TERM=dumb), -ENOENT unknown TERM. */
int tui_open(struct tui *t);
const char *tui_why(const struct tui *t);
void tui_close(struct tui *t);   /* give it back; tui_open() may follow */
int tui_fd(const struct tui *t); /* to poll for input; -1: not open */
bool tui_is_open(const struct tui *t);

/* The terminal has input: read all keys, act, redraw. -EIO: it has gone away. */
int tui_handle_input(struct tui *t);
/* Once an interval, and when the program's state changes: new picture (unless frozen) and redraw. */
int tui_refresh(struct tui *t);
/* The program has printed something: show it, where the log is what is shown. */
void tui_log_grew(struct tui *t);
/* After SIGWINCH: take the terminal's size again and redraw. */
int tui_resize(struct tui *t);
/* Ctrl-Z, SIGTSTP: give the terminal back, stop this process, take it again when continued. */
int tui_suspend(struct tui *t);
/* After SIGCONT: take the terminal again, unless tui_suspend() has. Whoever stopped us (SIGSTOP)
 * left us no time to give it back, and a shell has set it up for itself. */
int tui_continue(struct tui *t);
/* Show one line above the function keys until the next key. Copied. */
void tui_message(struct tui *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What gives the terminal back by write() alone: for the keeper and for signal handlers. */
const char *tui_restore_bytes(const struct tui *t, size_t *ret_len); /* NULL: not open */
const struct termios *tui_saved_termios(const struct tui *t);        /* NULL: not open */

/* One key, as if typed: a Unicode character, or a value of tui_key_parse(). */
void tui_key(struct tui *t, int key);
/* The key of a word: "a", "F6", "Down", "C-c", "M-h", "Esc", "Space"; -1: there is none. */
int tui_key_parse(const char *word, size_t len);
/* Keys as words between spaces; 'text' in quotes is typed letter by letter. 0 or -EINVAL. */
int tui_key_script(struct tui *t, const char *script);

/* The present screen as text: rows lines without trailing blanks. attributes = true: a second
 * block with a letter for the role of each cell. Works without a terminal. */
int tui_dump(struct tui *t, int rows, int cols, bool attributes, struct buf *out);

/* Tables from the one list of requests (keys.h). */
enum tui_key_format { TUI_KEYS_TEXT = 0, TUI_KEYS_MAN };
/* settings: NULL = the keys as they are bound without any. */
void tui_keys_write(enum tui_key_format format, const struct settings *settings, struct buf *out);
/* Name of theme i, or NULL beyond the last. */
const char *tui_theme_name(unsigned i);
/* Word of panel i as an option takes it ("kernels"), or NULL beyond the last. */
const char *tui_panel_word(unsigned i);
/* Title of the tree's column i as an option takes it ("total"), or NULL beyond the last. */
const char *tui_sort_name(unsigned i);

#endif
