/* How far a long work is: on a terminal one line of standard error that is written again and again. */
#ifndef CLI_STATUS_LINE_H
#define CLI_STATUS_LINE_H

#include "cli.h"

typedef struct status_line {
    bool terminal; /* standard error is one that can be written over */
    bool open;     /* the line stands there now */
    double started, shown;
} status_line;

void status_line_begin(status_line *s);
/* On a terminal writes the line over, else writes a new one. */
void status_line_show(status_line *s, const char *text);
/* Writes a line that stays. */
void status_line_print(status_line *s, const char *text);
/* Takes the line off the terminal, before something else is written. */
void status_line_clear(status_line *s);

/* Of lines that are worked off: shows how many, how fast, and how long it will take, on a terminal and at most
 * twice a second. reader: that they come from. */
void status_line_count(status_line *s, const sa_reader *reader, size_t lines, double symbols);

/* "1:02:03"; "?" for what is no duration. */
void format_duration(double seconds, char *text, size_t size);

#endif
