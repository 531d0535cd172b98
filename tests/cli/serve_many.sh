#!/bin/sh
# Many clients at once, clients that leave or dawdle, and what stays of them: serve_many.sh PROGRAM CLIENT [SECONDS]
# SECONDS of all kinds of requests, 60 unless said, 15 with a sanitizer; ten minutes by hand. Every failed check is printed; exits 1 when
# there is one.
set -u
client=$(realpath "$2")
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
. "$lib/serve.sh"
if [ -n "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then seconds=15; else seconds=60; fi
seconds=${3:-$seconds}

"$program" translate -m model -q <src >wanted
start --max-time 30 --receive-time 2 || exit 1

# ---- answers to many equal those to one

"$client" "$url" storm 200 10 src wanted >storm || fail "200 clients: $(cat storm)"
ask 200 'softalign_batch_size_bucket\{le="1"\}' GET /metrics ''
batches=$(sed -n 's/^softalign_batch_size_count //p' answer)
[ "$batches" -lt 1500 ] || fail "2000 texts of 200 clients were translated in $batches batches"
"$client" "$url" storm 1 60 src wanted >storm || fail "one client: $(cat storm)"

# ---- who leaves harms nobody

printf '{"text":"dog cat horse bear bird fish house tree car king queen child man woman","beam_size":16}' >long
"$client" "$url" leave 100 /v1/translate <long &
leaver=$!
"$client" "$url" storm 4 60 src wanted >storm || fail "beside clients that leave: $(cat storm)"
wait $leaver
ask 200 '"status":"ok"' GET /health ''
none_left() { "$client" "$url" request GET /metrics <in | grep -qx 'softalign_jobs 0'; }
wait_for none_left || fail 'work of clients that left goes on'

# ---- a byte now and then is no way to stay

begun=$(date +%s)
printf 'POST /v1/translate HTTP/1.1\r\nHost: t\r\nContent-Length: 9000\r\n\r\n%9000s' '' | "$client" "$url" raw 50 >answer
[ $(($(date +%s) - begun)) -lt 30 ] || fail 'a request came in for half a minute'
begun=$(date +%s)
printf 'GET /health HTTP/1.1\r\nX-%900s: 1\r\n\r\n' '' | tr ' ' x | "$client" "$url" raw 50 >answer
[ $(($(date +%s) - begun)) -lt 30 ] || fail 'a head came in for half a minute'

# ---- nothing grows

memory() { of_process VmRSS; }
quarter=$(((seconds + 3) / 4))
"$client" "$url" mix 16 $quarter src >mix || fail "all kinds of requests: $(cat mix)"
wait_for none_left || fail 'work goes on after all kinds of requests'
threads=$(of_process Threads) before=$(memory)
"$client" "$url" mix 16 "$seconds" src >mix || fail "all kinds of requests: $(cat mix)"
wait_for none_left || fail 'work goes on after all kinds of requests'
idle() { [ "$("$client" "$url" request GET /metrics <in | sed -n 's/^softalign_connections //p')" -le 1 ]; }
wait_for idle || fail 'connections stay'
after=$(memory)
[ "$(of_process Threads)" -eq "$threads" ] || fail "$threads threads became $(of_process Threads)"
[ "$(descriptors)" -lt 40 ] || fail "$(descriptors) descriptors"
# Sanitizers keep what was freed.
[ -n "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || [ "$after" -lt $((before + before / 10 + 4000)) ] ||
    fail "memory grew from $before to $after kB"
[ "$seconds" -lt 60 ] || printf '%s; memory %s to %s kB, %s threads, %s descriptors\n' "$(cat mix)" "$before" "$after" \
    "$threads" "$(descriptors)"
"$client" "$url" storm 20 10 src wanted >storm || fail "after all that: $(cat storm)"

# ---- the end of a server that works

"$client" "$url" storm 50 40 src wanted >storm &
storming=$!
sleep 0.3
stop_server
[ "$server_status" -eq 0 ] || fail "SIGTERM while it works: exit status $server_status: $(cat log)"
wait $storming
exit $failed
