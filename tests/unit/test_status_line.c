#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "status_line.h"

#include <fcntl.h>
#include <poll.h>
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

/* What was written to the other end; a terminal hands it on in pieces. */
static void expect(int descriptor, const char *wanted) {
    char text[512];
    size_t n = 0;
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    while (n < strlen(wanted) && poll(&ready, 1, 10000) == 1) {
        ssize_t got = read(descriptor, text + n, sizeof text - 1 - n);
        assert_true(got > 0);
        n += (size_t)got;
    }
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

/* An hour for the first half of a file; the seconds are not looked at, since the test may be stopped meanwhile. */
static void lines_are_counted_with_speed_and_time_left(void **state) {
    (void)state;
    char path[] = "/tmp/softalign.XXXXXX", text[512];
    int file = mkstemp(path), ends[2], seconds[2];
    assert_int_equal(write(file, "a\nb\nc\nd\n", 8), 8);
    assert_int_equal(pipe(ends), 0);
    sa_error error;
    sa_reader *reader;
    size_t length;
    char *line;
    assert_int_equal(sa_reader_open(&reader, path, false, &error), SA_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(sa_reader_next(reader, &line, &length, &error), SA_OK);
    setenv("COLUMNS", "200", 1);
    begin_at(ends[1]);
    status_line s;
    status_line_begin(&s);
    s.started -= 3600;
    s.shown -= 3600;
    status_line_count(&s, reader, 7200, 36000); /* not a terminal: nothing */
    s.terminal = true;
    status_line_count(&s, reader, 7200, 36000);
    status_line_count(&s, reader, 7201, 36000); /* too soon */
    end();
    ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    int parts = sscanf(text, "\r\033[K7200 lines  2 lines/s  10 symbols/s  1:00:%2d, 1:00:%2d left", &seconds[0],
                       &seconds[1]);
    assert_int_equal(parts, 2);
    assert_string_equal(text + n - 5, " left");
    sa_reader_free(reader);
    unlink(path);
    close(file);
    close(ends[0]);
    close(ends[1]);
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
        cmocka_unit_test(lines_are_counted_with_speed_and_time_left),
        cmocka_unit_test(elsewhere_lines_are_lines),
        cmocka_unit_test(durations_are_hours_minutes_and_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
