#include "cli.h"
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 48 };

/* Option i of the command, sections included, --help last; NULL at the end. */
static const option *option_at(const command *c, size_t i) {
    if (i > 0 && c->options[i - 1].kind == OPTION_END)
        return NULL;
    return c->options[i].kind == OPTION_END ? &help_option : &c->options[i];
}

/* ---- near misses ------------------------------------------------------------------------------------- */

/* Insertions, deletions, changes and swaps of neighbours that turn a into b. */
static int edit_distance(const char *a, size_t n, const char *b, size_t m) {
    int row[3][NAME_MAX_LENGTH + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *before2 = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before2[j - 2] + 1 < best)
                best = before2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* Takes name as the new best when it is nearer; a third of the letters may differ. */
static void consider_name(const char *text, size_t length, const char *name, const char **best, int *distance) {
    size_t m = strlen(name);
    if (length > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH)
        return;
    int d = edit_distance(text, length, name, m);
    int most = (int)(m > length ? m : length) / 3;
    if (d <= (most > 1 ? most : 1) && d < *distance && d < (int)m) {
        *best = name;
        *distance = d;
    }
}

const char *nearest_name(const char *text, const char *const *names) {
    const char *best = NULL;
    int distance = INT_MAX;
    for (; *names != NULL; names++)
        consider_name(text, strlen(text), *names, &best, &distance);
    return best;
}

static const char *nearest_option(const command *c, const char *text, size_t length) {
    const char *best = NULL;
    int distance = INT_MAX;
    const option *o;
    for (size_t i = 0; (o = option_at(c, i)) != NULL; i++)
        if (o->kind != OPTION_SECTION)
            consider_name(text, length, o->name, &best, &distance);
    return best;
}

/* ---- values ------------------------------------------------------------------------------------------ */

static bool in_range(const option_range *r, double x) {
    if (!r->checked)
        return true;
    return (r->above ? x > r->low : x >= r->low) && (r->below ? x < r->high : x <= r->high);
}

static int range_error(const command *c, const option *o, const char *text) {
    const option_range *r = &o->range;
    char high[64] = "";
    if (r->high < HUGE_VAL)
        snprintf(high, sizeof high, " and %s %.10g", r->below ? "below" : "at most", r->high);
    return cli_usage_error(c, "option --%s: %s is out of range; it must be %s %.10g%s", o->name, text,
                           r->above ? "above" : "at least", r->low, high);
}

static int number_error(const command *c, const option *o, const char *text, bool overflow) {
    if (overflow)
        return cli_usage_error(c, "option --%s: %s is too large a number", o->name, text);
    const char *what = "a whole number";
    if (o->kind == OPTION_UINT64)
        what = "a whole number from 0";
    if (o->kind == OPTION_FLOAT || o->kind == OPTION_DOUBLE)
        what = "a number (written like 0.5 or 1e-6)";
    return cli_usage_error(c, "option --%s: '%s' is not %s", o->name, text, what);
}

static int set_integer(const command *c, const option *o, void *target, const char *text) {
    int64_t value;
    bool overflow;
    if (!parse_int64(text, &value, &overflow))
        return number_error(c, o, text, overflow);
    if (!in_range(&o->range, (double)value))
        return range_error(c, o, text);
    if (o->kind == OPTION_INT64) {
        *(int64_t *)target = value;
        return CLI_GO_ON;
    }
    if (value < INT_MIN || value > INT_MAX)
        return number_error(c, o, text, true);
    *(int *)target = (int)value;
    return CLI_GO_ON;
}

static int set_unsigned(const command *c, const option *o, void *target, const char *text) {
    uint64_t value;
    bool overflow;
    if (!parse_uint64(text, &value, &overflow))
        return number_error(c, o, text, overflow);
    if (!in_range(&o->range, (double)value))
        return range_error(c, o, text);
    *(uint64_t *)target = value;
    return CLI_GO_ON;
}

static int set_real(const command *c, const option *o, void *target, const char *text) {
    double value;
    bool overflow;
    if (!parse_double(text, &value, &overflow))
        return number_error(c, o, text, overflow);
    bool single = o->kind == OPTION_FLOAT;
    if (single && fabs(value) > (double)FLT_MAX)
        return number_error(c, o, text, true);
    /* The range is that of the value kept: 1e-60 as a float is 0, not above 0. */
    if (!in_range(&o->range, single ? (double)(float)value : value))
        return range_error(c, o, text);
    if (single)
        *(float *)target = (float)value;
    else
        *(double *)target = value;
    return CLI_GO_ON;
}

const char *const *option_names(const option *o) {
    return o->names_of != NULL ? o->names_of() : o->names;
}

void join_names(const char *const *names, char *text, size_t size) {
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; names[i] != NULL && n < size; i++) {
        const char *between = i == 0 ? "" : names[i + 1] == NULL ? " or " : ", ";
        int written = snprintf(text + n, size - n, "%s%s", between, names[i]);
        n += written > 0 ? (size_t)written : 0;
    }
}

static int set_name(const command *c, const option *o, void *target, const char *text) {
    const char *const *names = option_names(o);
    for (unsigned i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) != 0)
            continue;
        if (o->kind == OPTION_ENUM)
            *(unsigned *)target = i;
        else if (o->kind == OPTION_BOOL)
            *(bool *)target = i == 1;
        else
            snprintf(target, o->size, "%s", names[i]);
        return CLI_GO_ON;
    }
    char all[256];
    join_names(names, all, sizeof all);
    return cli_usage_error(c, "option --%s: there is no '%s'; it must be %s", o->name, text, all);
}

static int set_custom(const command *c, const option *o, void *target, const char *text) {
    const char *expected = o->parse(text, target);
    if (expected == NULL)
        return CLI_GO_ON;
    return cli_usage_error(c, "option --%s: '%s' is not %s", o->name, text, expected);
}

static int add_to_list(const command *c, const option *o, option_list *list, const char *text) {
    if (list->n == OPTION_LIST_MOST)
        return cli_usage_error(c, "option --%s takes at most %d", o->name, OPTION_LIST_MOST);
    list->text[list->n++] = text;
    return CLI_GO_ON;
}

static int set_value(const command *c, const option *o, char *base, const char *text) {
    void *target = base + o->offset;
    switch (o->kind) {
    case OPTION_INT:
    case OPTION_INT64:
        return set_integer(c, o, target, text);
    case OPTION_UINT64:
        return set_unsigned(c, o, target, text);
    case OPTION_FLOAT:
    case OPTION_DOUBLE:
        return set_real(c, o, target, text);
    case OPTION_BOOL:
    case OPTION_ENUM:
    case OPTION_NAME:
        return set_name(c, o, target, text);
    case OPTION_CUSTOM:
        return set_custom(c, o, target, text);
    case OPTION_LIST:
        return add_to_list(c, o, target, text);
    default: /* a string, or the first of a pair */
        *(const char **)target = text;
        return CLI_GO_ON;
    }
}

/* ---- reading the command line ------------------------------------------------------------------------ */

typedef struct scanner {
    const command *c;
    char *target;
    int argc, at;
    char **argv;
} scanner;

/* The second file of a pair follows as an argument of its own. */
static int take_second(scanner *s, const option *o) {
    const char *text = s->at + 1 < s->argc ? s->argv[s->at + 1] : NULL;
    if (text == NULL || (text[0] == '-' && text[1] != '\0'))
        return cli_usage_error(s->c,
                               "option --%s needs two files: --%s %s (for one that starts with a dash, write ./-)",
                               o->name, o->name, o->argument);
    s->at++;
    *(const char **)(void *)(s->target + o->second) = text;
    return CLI_GO_ON;
}

/* The rest of a list. */
static int take_others(scanner *s, const option *o) {
    int status = CLI_GO_ON;
    while (status == CLI_GO_ON && s->at + 1 < s->argc) {
        const char *text = s->argv[s->at + 1];
        if (text[0] == '-' && text[1] != '\0')
            break;
        s->at++;
        status = set_value(s->c, o, s->target, text);
    }
    return status;
}

/* attached: what stands behind = or the letter, NULL when nothing does. */
static int apply_option(scanner *s, const option *o, const char *attached) {
    if (o == &help_option) {
        options_help(stdout, s->c, s->target);
        return CLI_OK;
    }
    if (o->kind == OPTION_FLAG) {
        *(bool *)(s->target + o->offset) = true;
        return CLI_GO_ON;
    }
    const char *text = attached;
    if (text == NULL && s->at + 1 < s->argc)
        text = s->argv[++s->at];
    if (text == NULL)
        return cli_usage_error(s->c, "option --%s needs an argument: --%s %s", o->name, o->name, o->argument);
    int status = set_value(s->c, o, s->target, text);
    if (status == CLI_GO_ON && o->kind == OPTION_PAIR)
        status = take_second(s, o);
    if (status == CLI_GO_ON && o->kind == OPTION_LIST && attached == NULL)
        status = take_others(s, o);
    return status;
}

static int ambiguous_option(const command *c, const char *text, size_t length) {
    char all[512];
    size_t n = 0;
    all[0] = '\0';
    const option *o;
    for (size_t i = 0; (o = option_at(c, i)) != NULL && n < sizeof all; i++)
        if (o->kind != OPTION_SECTION && strncmp(o->name, text, length) == 0)
            n += (size_t)snprintf(all + n, sizeof all - n, "%s--%s", n > 0 ? ", " : "", o->name);
    return cli_usage_error(c, "option --%.*s could be any of %s", (int)length, text, all);
}

/* text: what follows the two dashes. */
static int long_option(scanner *s, const char *text) {
    size_t length = strcspn(text, "=");
    const char *attached = text[length] == '=' ? text + length + 1 : NULL;
    const option *o, *found = NULL;
    int matches = 0;
    for (size_t i = 0; (o = option_at(s->c, i)) != NULL; i++) {
        if (o->kind == OPTION_SECTION || strncmp(o->name, text, length) != 0)
            continue;
        found = o;
        matches++;
        if (o->name[length] == '\0') {
            matches = 1;
            break;
        }
    }
    if (matches > 1)
        return ambiguous_option(s->c, text, length);
    if (matches == 0) {
        const char *near = nearest_option(s->c, text, length);
        return cli_usage_error(s->c, "unknown option --%.*s%s%s%s", (int)length, text,
                               near != NULL ? "; did you mean --" : "", near != NULL ? near : "",
                               near != NULL ? "?" : "");
    }
    if (attached != NULL && found->kind == OPTION_FLAG)
        return cli_usage_error(s->c, "option --%s takes no argument", found->name);
    return apply_option(s, found, attached);
}

/* text: what follows the dash: flags, then perhaps an option and its argument. */
static int short_options(scanner *s, const char *text) {
    for (; *text != '\0'; text++) {
        const option *o, *found = NULL;
        for (size_t i = 0; found == NULL && (o = option_at(s->c, i)) != NULL; i++)
            if (o->letter != '\0' && o->letter == *text)
                found = o;
        if (found == NULL)
            return cli_usage_error(s->c, "unknown option -%s", text);
        bool flag = found->kind == OPTION_FLAG;
        int status = apply_option(s, found, flag || text[1] == '\0' ? NULL : text + 1);
        if (!flag || status != CLI_GO_ON)
            return status;
    }
    return CLI_GO_ON;
}

/* Looked for first, so that help comes in spite of other mistakes and shows the defaults as they are. */
static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int options_parse(const command *c, void *target, int argc, char **argv, int *n_arguments) {
    if (asks_for_help(argc, argv)) {
        options_help(stdout, c, target);
        return CLI_OK;
    }
    scanner s = {.c = c, .target = target, .argc = argc, .argv = argv};
    int n = 0;
    bool options_ended = false;
    for (s.at = 1; s.at < argc; s.at++) {
        char *text = argv[s.at];
        if (!options_ended && strcmp(text, "--") == 0) {
            options_ended = true;
        } else if (options_ended || text[0] != '-' || text[1] == '\0') {
            argv[n++] = text;
        } else {
            int status = text[1] == '-' ? long_option(&s, text + 2) : short_options(&s, text + 1);
            if (status != CLI_GO_ON)
                return status;
        }
    }
    if (c->most_arguments >= 0 && n > c->most_arguments)
        return cli_usage_error(c, "unexpected argument '%s'", argv[c->most_arguments]);
    *n_arguments = n;
    return CLI_GO_ON;
}

int options_preview(const command *c, void *target, int argc, char **argv) {
    char **copy = malloc(((size_t)argc + 1) * sizeof *copy);
    if (copy == NULL) {
        cli_message("%s", sa_status_text(SA_MEMORY));
        return CLI_FAILED;
    }
    memcpy(copy, argv, ((size_t)argc + 1) * sizeof *copy);
    int n;
    int status = options_parse(c, target, argc, copy, &n);
    free(copy);
    return status;
}
