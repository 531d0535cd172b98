/* Colours for numbers from 0 to 1, and for lines that belong to different things. All can be told apart by people
 * who see fewer colours, and order by lightness, so that they survive a grey printer. */
#ifndef DRAW_PALETTE_H
#define DRAW_PALETTE_H

#include "draw/canvas.h"

/* The colour of a value; below 0 counts as 0, above 1 as 1, NaN as 0. */
canvas_colour palette_colour(sa_palette palette, double value);
/* Of marks on cells; alpha 0: whatever stands out from the cell (palette_contrast). */
canvas_colour palette_mark(sa_palette palette);
/* Black or white, for what is written on a colour. */
canvas_colour palette_contrast(canvas_colour ground);
/* The entry of xterm's 256 colours that is nearest, without the first 16, which terminals choose themselves. */
int palette_xterm(canvas_colour c);

/* Of the line with that number, from 0; they come again after PALETTE_LINES. */
#define PALETTE_LINES 7
canvas_colour palette_line(int i);

#endif
