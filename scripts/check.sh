#!/bin/sh
# Builds and runs tests: check.sh BUILD [OPTION OF meson test]...
# Prints the logs of those that failed, meson's summary, and last "N passed, N failed", counted in meson's log.
set -u
build=$1
shift
logs=$build/meson-logs
rm -f "$logs"/testlog*.json
status=0
{
    ninja -C "$build" all meson-test-prereq &&
        meson test -C "$build" --no-rebuild --print-errorlogs "$@"
} || status=$?

count() {
    # One JSON object a line; quotes inside its strings are escaped, so only the field itself can match. The name
    # of the file depends on the options.
    cat /dev/null "$logs"/testlog*.json 2>/dev/null | grep -cE "\"result\": \"($1)\""
}
passed=$(count 'OK|EXPECTEDFAIL')
skipped=$(count 'SKIP')
failed=$(count 'FAIL|TIMEOUT|ERROR|UNEXPECTEDPASS|INTERRUPT')
# A build that failed, or no test at all: nothing to be counted, and still not a success.
if [ "$failed" = 0 ] && { [ "$status" != 0 ] || [ "$passed" = 0 ]; }; then
    failed=1
fi
[ "$skipped" = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
