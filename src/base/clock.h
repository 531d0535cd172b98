#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some moment; never goes back. */
double clock_seconds(void);

#endif
