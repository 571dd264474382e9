/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_KEYS_H
#define PROTON_TUI_KEYS_H
/* Requests and the keys that make them. This list is the only one: the help overlay, `--keys`,
 * the function-key line and the man page's table are made from it.
 *
 *     terminal ─> key (int) ─> keymap ─> request ─> panel, else its list, else the screen
 *
 * Keys are words between spaces; see key_parse(). The label, where there is one, stands beside
 * the function key on the last line. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Headings of the help screen. */
#define KEY_GROUPS(_)                                                                              \
	_(MOVE, "Move")                                                                            \
	_(TREE, "Tree")                                                                            \
	_(FIND, "Find")                                                                            \
	_(SHOW, "Show")                                                                            \
	_(DATA, "Data")                                                                            \
	_(PROGRAM, "Program")

/*  request        keys             group    label     help */
/* clang-format off */
#define REQUESTS(_)                                                                                \
	_(DOWN,          "Down j",        MOVE,    "",       "next row")                           \
	_(UP,            "Up k",          MOVE,    "",       "previous row")                       \
	_(PAGE_DOWN,     "PgDn Space",    MOVE,    "",       "a screen down")                      \
	_(PAGE_UP,       "PgUp b",        MOVE,    "",       "a screen up")                        \
	_(HALF_DOWN,     "C-d",           MOVE,    "",       "half a screen down")                 \
	_(HALF_UP,       "C-u",           MOVE,    "",       "half a screen up")                   \
	_(FIRST,         "Home g",        MOVE,    "",       "first row")                          \
	_(LAST,          "End",           MOVE,    "",       "last row")                           \
	_(SCROLL_LEFT,   "S-Left M-h",    MOVE,    "",       "scroll names to the left")           \
	_(SCROLL_RIGHT,  "S-Right M-l",   MOVE,    "",       "scroll names to the right")          \
	_(NEXT_PANEL,    "Tab",           MOVE,    "",       "next panel")                         \
	_(PREV_PANEL,    "S-Tab",         MOVE,    "",       "previous panel")                     \
	_(PANEL_MENU,    "v",             MOVE,    "",       "choose a panel")                     \
	_(PANEL_1,       "1",             MOVE,    "",       "tree of calling contexts")           \
	_(PANEL_2,       "2",             MOVE,    "",       "kernels, copies and sets by name")   \
	_(PANEL_3,       "3",             MOVE,    "",       "memory transfers")                   \
	_(PANEL_4,       "4",             MOVE,    "",       "devices and processes")              \
	_(PANEL_5,       "5",             MOVE,    "",       "losses, notes and own cost")         \
	_(PANEL_6,       "6",             MOVE,    "",       "output of the program")              \
	_(PANEL_7,       "7",             MOVE,    "",       "bottom-up: kernels with their callers") \
	_(PANEL_8,       "8",             MOVE,    "",       "callers and callees of the function in this row") \
	_(PANEL_9,       "9",             MOVE,    "",       "flame graph") \
	_(PANEL_10,      "0",             MOVE,    "",       "roofline plot") \
	_(PANEL_11,      "M-1",           MOVE,    "",       "durations of the executions of this row") \
	_(PANEL_12,      "M-2",           MOVE,    "",       "ranks, and where they wait for the slowest") \
	_(PANEL_13,      "M-3",           MOVE,    "",       "the host: scopes, and waits for the GPU") \
	_(PANEL_14,      "M-4",           MOVE,    "",       "findings: what costs time that it need not") \
	_(PANEL_15,      "M-5",           MOVE,    "",       "timeline: when each operation ran (--trace)") \
	_(PANEL_16,      "M-6",           MOVE,    "",       "launches: how, and what limits occupancy") \
	_(PANEL_17,      "M-7",           MOVE,    "",       "source of kernels, and where they wait (--pc-sampling)") \
	_(PANEL_18,      "M-8",           MOVE,    "",       "hardware counters of the devices (--counters)") \
	_(PANEL_19,      "M-9",           MOVE,    "",       "warps: what each did within kernels (--intra)") \
	_(RIGHT,         "Right l",       TREE,    "",       "unfold, or go to the first child")   \
	_(LEFT,          "Left h",        TREE,    "",       "fold, or go to the parent")          \
	_(TOGGLE,        "F7 o",          TREE,    "Fold",   "fold or unfold; flames: zoom; elsewhere: show in the tree") \
	_(UNFOLD,        "+",             TREE,    "",       "unfold one level")                   \
	_(FOLD,          "-",             TREE,    "",       "fold")                               \
	_(UNFOLD_BELOW,  "e",             TREE,    "",       "unfold everything below")            \
	_(FOLD_BELOW,    "c",             TREE,    "",       "fold everything below")              \
	_(UNFOLD_ALL,    "E *",           TREE,    "",       "unfold all")                         \
	_(FOLD_ALL,      "C",             TREE,    "",       "fold all")                           \
	_(FOLD_AUTO,     "=",             TREE,    "",       "unfold the hottest paths that fit the screen") \
	_(HOT_PATH,      "H",             TREE,    "",       "follow the hottest path to its leaf") \
	_(HOT_CHILD,     "L",             TREE,    "",       "go to the hottest child")            \
	_(PARENT,        "u",             TREE,    "",       "go to the parent")                   \
	_(NEXT_SIBLING,  "}",             TREE,    "",       "next sibling")                       \
	_(PREV_SIBLING,  "{",             TREE,    "",       "previous sibling")                   \
	_(ZOOM,          ".",             TREE,    "",       "make this the root")                 \
	_(ZOOM_OUT,      "BkSp",          TREE,    "",       "back to the root before")            \
	_(REVEAL,        "t",             TREE,    "",       "show this row in the tree")          \
	_(OPEN,          "Enter",         TREE,    "",       "what can be done with this row; in pictures: go there") \
	_(MENU,          "a",             TREE,    "",       "what can be done with this row")     \
	_(DETAIL,        "d",             TREE,    "",       "everything known about this row")    \
	_(EDIT,          "O",             TREE,    "",       "open the file that this row names in $EDITOR") \
	_(COPY_NAME,     "y",             TREE,    "",       "copy the name of this row to the clipboard") \
	_(COPY_ROW,      "Y",             TREE,    "",       "copy this row to the clipboard")     \
	_(SEARCH,        "/ F3",          FIND,    "Find",   "find in names (capitals count when typed)") \
	_(SEARCH_NEXT,   "n",             FIND,    "",       "next match")                         \
	_(SEARCH_PREV,   "N",             FIND,    "",       "previous match")                     \
	_(FILTER,        "\\ F4",         FIND,    "Filter", "keep only paths with this in a name") \
	_(INCLUDE,       "&",             FIND,    "",       "only paths through what this selects") \
	_(EXCLUDE,       "!",             FIND,    "",       "without what this selects, and all below") \
	_(ONLY_THIS,     "M-o",           FIND,    "",       "only paths through the name of this row") \
	_(WITHOUT_THIS,  "M-w",           FIND,    "",       "without the name of this row")       \
	_(BACK,          "Esc",           FIND,    "",       "close, zoom out, clear filters and search") \
	_(SORT_MENU,     "F6",            SHOW,    "Sort",   "choose the column to sort by")       \
	_(SORT_NEXT,     "> s",           SHOW,    "",       "sort by the next column")            \
	_(SORT_PREV,     "<",             SHOW,    "",       "sort by the previous column")        \
	_(SORT_REVERSE,  "I",             SHOW,    "",       "reverse the order")                  \
	_(SORT_TOTAL,    "T",             SHOW,    "",       "sort by total time")                 \
	_(SORT_SELF,     "S",             SHOW,    "",       "sort by exclusive time")             \
	_(SORT_AVERAGE,  "A",             SHOW,    "",       "sort by average time")               \
	_(SORT_BYTES,    "B",             SHOW,    "",       "sort by bytes")                      \
	_(SORT_FLOPS,    "F",             SHOW,    "",       "sort by floating-point operations")  \
	_(COLUMNS,       "F2 f",          SHOW,    "Columns", "choose the columns and their order")  \
	_(FORM,          "x",             SHOW,    "",       "another form of what is shown (9, 0, M-1)") \
	_(NAMES,         "m",             SHOW,    "",       "names: short, demangled, raw")       \
	_(PERCENT,       "%",             SHOW,    "",       "percent of the total or of the parent") \
	_(GROUP,         "G F5",          SHOW,    "Group",  "group by process, device, stream, thread") \
	_(CONTEXTS,      "X",             SHOW,    "",       "calling contexts: all, scopes, torch, python, line, native") \
	_(THEME,         "V",             SHOW,    "",       "the next theme of colours")          \
	_(HEADER,        "^",             SHOW,    "",       "more lines above the panel, one, or the usual ones") \
	_(MOUSE,         "M",             SHOW,    "",       "use the mouse, or leave it to the terminal") \
	_(FREEZE,        "z Z F8",        DATA,    "Freeze", "hold the picture; recording goes on") \
	_(PAUSE,         "P",             DATA,    "",       "pause or resume collecting")         \
	_(RESET,         "r",             DATA,    "",       "count from now")                     \
	_(UNRESET,       "R",             DATA,    "",       "count the whole run again")          \
	_(SAVE,          "F9 w",          DATA,    "Save",   "write the profile now")              \
	_(COMPARE,       "D",             DATA,    "",       "compare with another profile; with none: no more") \
	_(SAVE_LAYOUT,   "W",             DATA,    "",       "keep columns, orders and colours for the next time") \
	_(PRINT,         "p",             DATA,    "",       "write this screen to a file: text, colours, picture")\
	_(RESYNC,        "C-r",           DATA,    "",       "have everything sent again")         \
	_(HELP,          "F1 ?",          PROGRAM, "Help",   "this list")                          \
	_(TYPE,          "i",             PROGRAM, "",       "type to the program, line by line; C-d ends its input") \
	_(SIGNAL,        "K",             PROGRAM, "",       "send a signal to the program")       \
	_(INTERRUPT,     "C-c",           PROGRAM, "",       "stop the program, detach or cancel; twice: stop and leave") \
	_(SUSPEND,       "C-z",           PROGRAM, "",       "suspend the screen only")            \
	_(REDRAW,        "C-l",           PROGRAM, "",       "draw anew")                          \
	_(CLOSE,         "q",             PROGRAM, "",       "close what is open, else leave")     \
	_(QUIT,          "F10 Q",         PROGRAM, "Quit",   "leave")
/* clang-format on */

/* Keys of a line that is being typed, which have no other meaning then.
 *   edit          keys            help */
/* clang-format off */
#define EDITS(_)                                                                                   \
	_(LEFT,        "Left C-b",   "back by a character")                                        \
	_(RIGHT,       "Right C-f",  "on by a character")                                          \
	_(WORD_LEFT,   "M-b",        "back by a word")                                             \
	_(WORD_RIGHT,  "M-f",        "on by a word")                                               \
	_(BEGIN,       "Home C-a",   "to the beginning")                                           \
	_(END,         "End C-e",    "to the end")                                                 \
	_(ERASE,       "BkSp",       "erase the character before the cursor")                      \
	_(DELETE,      "Del C-d",    "erase the character at the cursor")                          \
	_(ERASE_WORD,  "C-w",        "erase what is before the cursor, back to a blank")           \
	_(DELETE_WORD, "M-d",        "erase the word at the cursor")                               \
	_(ERASE_LEFT,  "C-u",        "erase what is before the cursor")                            \
	_(ERASE_RIGHT, "C-k",        "erase what is at the cursor and behind it")                  \
	_(OLDER,       "Up C-p",     "what was typed here before")                                 \
	_(NEWER,       "Down C-n",   "what was typed after that")                                  \
	_(COMPLETE,    "Tab",        "complete the name of a file")                                \
	_(ACCEPT,      "Enter",      "done")                                                       \
	_(CANCEL,      "Esc C-g C-c", "leave everything as it was")
/* clang-format on */

enum edit {
	EDIT_NONE = 0,
#define _(edit, keys, help) EDIT_##edit,
	EDITS(_)
#undef _
		EDIT_N
};
enum edit edit_find(int key); /* EDIT_NONE: a character, or nothing */

enum request {
	REQ_NONE = 0,
#define _(request, keys, group, label, help) REQ_##request,
	REQUESTS(_)
#undef _
		REQ_N
};

/* Keys beyond characters: terminal function keys, and a character after Alt. */
#define KEY_FUNCTION 0x1000000
#define KEY_ALT      0x2000000
#define KEY_PASTED   0x4000000 /* a character of pasted text: never a command */
#define KEY_CTRL(c)  ((c)&0x1f)

struct buf;

#define MAX_BINDINGS 256
#define KEY_WORDS    32 /* longest list of a request's keys that is shown */

struct keymap {
	struct key_binding {
		int key;
		enum request request;
	} bindings[MAX_BINDINGS];
	unsigned n;
	char words[REQ_N][KEY_WORDS];
};

void keymap_init(struct keymap *map); /* the default keys */
/* Bind a key anew. -ENOSPC: too many. */
int keymap_bind(struct keymap *map, int key, enum request request);
void keymap_unbind(struct keymap *map, int key);
/* Words of the keys that make a request, between spaces: "Down j"; "" = none. */
const char *keymap_words(const struct keymap *map, enum request request);
/* The first of them that is a character, alone or with Alt; 0 = none. */
int keymap_letter(const struct keymap *map, enum request request);
enum request keymap_find(const struct keymap *map, int key); /* REQ_NONE: not bound */

/* A key may have several codes, depending on the terminal: the one that key_parse() knows. */
int key_canonical(int key);

/* Key of a word ("a", "F6", "C-c", "M-h", "PgDn"), or -1. */
int key_parse(const char *word, size_t len);
/* The word of a key. */
#define KEY_WORD 16
void key_word(int key, char out[KEY_WORD]);

/* The name of a request in small letters, "sort-next"; the request of a name, or REQ_NONE. */
#define REQUEST_NAME 24
void request_name(enum request request, char out[REQUEST_NAME]);
enum request request_find(const char *name);

/* Row i of both lists together: what the help screen, `--keys` and the man page say. False: there are
 * no more. */
struct key_row {
	const char *group, *keys, *help;
	enum request request; /* REQ_NONE: of a line that is typed */
};
bool keymap_row(const struct keymap *map, unsigned i, struct key_row *ret);

/* What the list says of a request; not of REQ_NONE. */
struct request_info {
	const char *name, *keys, *group, *label, *help;
};
const struct request_info *request_info(enum request request);

#endif
