#include "json_writer.h"

#include <stddef.h>

void write_json_string(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(file, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            fprintf(file, "\\u%04X", *s);
        else if (*s == 0xE2 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9)) {
            fprintf(file, "\\u20%02X", s[2] - 0x80);
            s += 2;
        } else if (*s == 0xC2 && s[1] == 0x85) {
            fputs("\\u0085", file);
            s++;
        } else
            fputc(*s, file);
    }
    fputc('"', file);
}

void write_json_strings(FILE *file, char *const *text, int n) {
    fputc('[', file);
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", file);
        write_json_string(file, text[i]);
    }
    fputc(']', file);
}

void write_json_matrix(FILE *file, const float *at, int rows, int columns) {
    if (at == NULL) {
        fputs("null", file);
        return;
    }
    fputc('[', file);
    for (int i = 0; i < rows; i++) {
        fputs(i > 0 ? ",[" : "[", file);
        for (int j = 0; j < columns; j++)
            fprintf(file, j > 0 ? ",%.5f" : "%.5f", (double)at[(size_t)i * (size_t)columns + (size_t)j]);
        fputc(']', file);
    }
    fputc(']', file);
}
