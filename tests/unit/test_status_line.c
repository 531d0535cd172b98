#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "status_line.h"

#include <fcntl.h>
#include <unistd.h>

static int kept; /* standard error */

static void begin_at(int descriptor) {
    fflush(stderr);
    kept = dup(STDERR_FILENO);
    assert_true(dup2(descriptor, STDERR_FILENO) >= 0);
}

static void end(void) {
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
}

/* What was written to the other end. */
static void expect(int descriptor, const char *wanted) {
    char text[512];
    ssize_t n = read(descriptor, text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_string_equal(text, wanted);
}

static void on_a_terminal_a_line_is_written_over(void **state) {
    (void)state;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        skip();
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(other >= 0);
    setenv("TERM", "xterm", 1);
    setenv("COLUMNS", "8", 1);
    begin_at(other);
    status_line s;
    status_line_begin(&s);
    status_line_show(&s, "first");
    status_line_show(&s, "much too long");
    status_line_print(&s, "stays");
    status_line_show(&s, "last");
    status_line_clear(&s);
    status_line_clear(&s); /* is nothing the second time */
    end();
    expect(terminal, "\r\033[Kfirst\r\033[Kmuch to\r\033[Kstays\r\n\r\033[Klast\r\033[K");
    setenv("TERM", "dumb", 1);
    begin_at(other);
    status_line_begin(&s);
    status_line_show(&s, "first");
    end();
    expect(terminal, "first\r\n");
    close(other);
    close(terminal);
}

static void elsewhere_lines_are_lines(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    setenv("TERM", "xterm", 1);
    begin_at(ends[1]);
    status_line s;
    status_line_begin(&s);
    status_line_show(&s, "first");
    status_line_show(&s, "second");
    status_line_clear(&s);
    end();
    expect(ends[0], "first\nsecond\n");
    close(ends[0]);
    close(ends[1]);
}

static void durations_are_hours_minutes_and_seconds(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *wanted;
    } check[] = {{0, "0:00:00"},        {59.6, "0:01:00"}, {3723, "1:02:03"},
                 {360000, "100:00:00"}, {-1, "?"},         {1e300, "?"}};
    for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
        char text[32];
        format_duration(check[i].seconds, text, sizeof text);
        assert_string_equal(text, check[i].wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_terminal_a_line_is_written_over),
        cmocka_unit_test(elsewhere_lines_are_lines),
        cmocka_unit_test(durations_are_hours_minutes_and_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
