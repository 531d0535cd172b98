/* Values of JSON, written piece by piece. */
#ifndef CLI_JSON_WRITER_H
#define CLI_JSON_WRITER_H

#include <stdio.h>

/* In ASCII quotes; what some readers take for line ends is escaped too: U+0085, U+2028, U+2029. */
void write_json_string(FILE *file, const char *text);
void write_json_strings(FILE *file, char *const *text, int n);
/* (rows x columns), five decimals; NULL: null. */
void write_json_matrix(FILE *file, const float *at, int rows, int columns);

#endif
