#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static char root[64];

/* Writes a file of the machine that the test makes up, with the folders above it. */
static void put(const char *path, const char *text) {
    char command[512], name[256];
    snprintf(command, sizeof command, "mkdir -p '%s%.*s'", root, (int)(strrchr(path, '/') - path), path);
    assert_int_equal(system(command), 0);
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state) {
    (void)state;
    strcpy(root, "/tmp/memory.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    put("/proc/meminfo",
        "MemTotal:       16000 kB\nMemFree:  9 kB\nMemAvailable:   8000 kB\nSwapFree:       1000 kB\n");
    return 0;
}

static int remove_root(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void expect_pages(double bytes, const char *limit) {
    memory_room room = memory_pages_left(root);
    if (room.bytes != bytes || !strstr(room.limit, limit))
        fail_msg("%g bytes, limited by %s; not %g by %s", room.bytes, room.limit, bytes, limit);
}

static void available_memory_and_free_swap_are_what_a_machine_has(void **state) {
    (void)state;
    expect_pages(9000 * 1024, "machine");
}

static void a_machine_that_says_nothing_limits_nothing(void **state) {
    (void)state;
    assert_true(isinf(memory_pages_left("/nowhere").bytes));
    assert_true(isinf(memory_addresses_left("/nowhere").bytes));
}

static void the_tightest_group_of_cgroup_v2_limits_and_file_pages_do_not_count(void **state) {
    (void)state;
    put("/proc/self/cgroup", "0::/part/job\n");
    put("/sys/fs/cgroup/part/job/memory.max", "max\n");
    put("/sys/fs/cgroup/part/job/memory.current", "3000000\n");
    expect_pages(9000 * 1024, "machine");
    put("/sys/fs/cgroup/part/memory.max", "5000000\n");
    put("/sys/fs/cgroup/part/memory.current", "4000000\n");
    expect_pages(1000000, "control group");
    put("/sys/fs/cgroup/part/memory.stat", "anon 1\ninactive_file_x 9\ninactive_file 500000\nactive_file 200000\n");
    expect_pages(1700000, "control group");
    put("/sys/fs/cgroup/part/memory.current", "9000000\n"); /* more than it may */
    expect_pages(0, "control group");
}

static void cgroup_v1_limits_too(void **state) {
    (void)state;
    put("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/a\n1:name=systemd:/\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "100\n");
    put("/sys/fs/cgroup/a/memory.max", "5\n"); /* not this group's */
    put("/sys/fs/cgroup/a/memory.current", "1\n");
    expect_pages(9000 * 1024, "machine");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3000000\n");
    put("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file 40\ntotal_active_file 50\n");
    expect_pages(3000000 - 10, "control group");
}

static void in_a_container_the_limit_may_be_at_the_mount(void **state) {
    (void)state;
    put("/proc/self/cgroup", "4:memory:/docker/0123456789\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
    expect_pages(1500000, "control group");
}

static void limits_of_the_process_leave_what_it_has_not_taken(void **state) {
    (void)state;
    put("/proc/self/status", "Name:\tx\nVmPeak:\t 900000 kB\nVmSize:\t  300000 kB\nVmData:\t  100000 kB\n");
    const int resource[] = {RLIMIT_AS, RLIMIT_DATA};
    const double taken[] = {300000 * 1024., 100000 * 1024.};
    const char *const name[] = {"ulimit -v", "ulimit -d"};
    for (int i = 0; i < 2; i++) {
        struct rlimit old, low;
        assert_int_equal(getrlimit(resource[i], &old), 0);
        if (old.rlim_cur != RLIM_INFINITY)
            skip();
        assert_true(isinf(memory_addresses_left(root).bytes));
        low = old;
        low.rlim_cur = (rlim_t)1 << 46; /* more than the test needs, whatever it was built with */
        assert_int_equal(setrlimit(resource[i], &low), 0);
        memory_room room = memory_addresses_left(root);
        assert_int_equal(setrlimit(resource[i], &old), 0);
        assert_true(room.bytes == (double)((int64_t)1 << 46) - taken[i]);
        assert_non_null(strstr(room.limit, name[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(available_memory_and_free_swap_are_what_a_machine_has, make_root,
                                        remove_root),
        cmocka_unit_test(a_machine_that_says_nothing_limits_nothing),
        cmocka_unit_test_setup_teardown(the_tightest_group_of_cgroup_v2_limits_and_file_pages_do_not_count,
                                        make_root, remove_root),
        cmocka_unit_test_setup_teardown(cgroup_v1_limits_too, make_root, remove_root),
        cmocka_unit_test_setup_teardown(in_a_container_the_limit_may_be_at_the_mount, make_root, remove_root),
        cmocka_unit_test_setup_teardown(limits_of_the_process_leave_what_it_has_not_taken, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
