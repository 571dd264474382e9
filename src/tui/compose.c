/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/compose.h"
#include "base/buf.h"
#include "tui/header.h"
#include "tui/message.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

static void draw_too_small(const struct canvas *canvas)
{
	struct pen pen = pen_at(canvas, 0, 0, canvas->cols);

	pen_printf(&pen, ROLE_NORMAL, "%dx%d: needs %dx%d", canvas->cols, canvas->rows,
		   TUI_MIN_COLS, TUI_MIN_ROWS);
}

void tui_draw(struct tui *t, const struct canvas *canvas, int *ret_y, int *ret_x)
{
	bool footer = canvas->rows >= 8, talk = message_any(t);
	int bottom = message_bottom(t, canvas), top;

	*ret_y = -1;
	*ret_x = 0;
	t->hits.n = 0;
	werase(canvas->win);
	if (canvas->rows < TUI_MIN_ROWS || canvas->cols < TUI_MIN_COLS) {
		draw_too_small(canvas);
		return;
	}
	panel_refresh(t->panels[TUI_PANEL_TREE]); /* the tab line tells its state */
	top = header_draw(t, canvas);
	panel_draw(tui_panel(t), canvas, top, canvas->rows - top - bottom);
	if (footer && (bottom == 2 || !talk))
		header_draw_footer(t, canvas, canvas->rows - 1);
	if (talk || bottom == 2)
		message_draw(t, canvas, canvas->rows - bottom, ret_y, ret_x);
	if (menu_is_open(&t->menu))
		menu_draw(&t->menu, canvas);
}

static void redraw(struct tui *t)
{
	struct canvas canvas = screen_canvas(t->screen);
	int y, x;

	canvas.hits = &t->hits;
	tui_draw(t, &canvas, &y, &x);
	screen_flush(t->screen, y, x);
}

void tui_redraw(struct tui *t)
{
	const struct panel *p = tui_panel(t);

	if (!t->screen)
		return;
	redraw(t);
	if (p->ops->later && p->ops->later(tui_panel(t)))
		redraw(t);
}

int tui_draw_copy(struct tui *t, int rows, int cols, struct hits *hits, struct screen **ret)
{
	struct canvas canvas;
	int r = screen_open_copy(t->screen, rows, cols, &t->look, ret), y, x;

	if (r < 0)
		return r;
	canvas = screen_canvas(*ret);
	canvas.hits = hits;
	tui_draw(t, &canvas, &y, &x);
	return 0;
}

int tui_dump(struct tui *t, int rows, int cols, bool attributes, struct buf *out)
{
	struct screen *sc;
	int r = tui_draw_copy(t, rows, cols, &t->hits, &sc);

	if (r < 0)
		return r;
	screen_read(sc, attributes, out);
	screen_close(sc);
	return out->error;
}
