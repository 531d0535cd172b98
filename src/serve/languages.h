/* English names of languages by their codes (ISO 639-1). */
#ifndef SERVE_LANGUAGES_H
#define SERVE_LANGUAGES_H

/* Of "en", "zh-Hant", "pt_BR": the language's; the code itself where there is none. */
const char *language_name(const char *code);

#endif
