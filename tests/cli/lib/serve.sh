# For the tests of the server: sourced after run.sh and train.sh, with $client set. Leaves a model of the toy language
# as `model`.
server_pid=
trap 'stop_server; rm -rf "$work"' EXIT

: >in
write_text 60
train 0 '' -q --train src tgt --valid src tgt -o run --after 12e --valid-freq 1000
mv run/best.safetensors model

# start ARGUMENT...: a server of the model, whose address is $url when it is ready; its messages go to ./log.
start() {
    rm -f url
    "$program" serve -m en-fr=model --port 0 "$@" >url 2>log <in &
    server_pid=$!
    wait_for [ -s url ] || { fail "serve $*: no address: $(cat log)"; return 1; }
    url=$(head -n 1 url)
    # shellcheck disable=SC2317
    is_ready() { "$client" "$url" request GET /health <in | head -n 1 | grep -qx 200; }
    wait_for is_ready || fail "serve $*: is not ready: $(cat log)"
}

stop_server() {
    [ -n "$server_pid" ] || return 0
    kill "$server_pid" 2>/dev/null
    wait "$server_pid"
    server_status=$?
    server_pid=
}

brief() {
    printf '%.200s' "$1"
}

# ask STATUS PATTERN METHOD PATH BODY [HEADER]...: the answer is left in ./answer, with status and headers before it.
ask() {
    ask_status=$1 ask_pattern=$2 method=$3 path=$4 body=$5
    shift 5
    printf '%b' "$body" | "$client" "$url" request "$method" "$path" "$@" >answer
    [ "$(head -n 1 answer)" = "$ask_status" ] ||
        fail "$method $path $(brief "$body"): status $(head -n 1 answer), not $ask_status: $(tail -n 1 answer)"
    grep -Eq -- "$ask_pattern" answer || fail "$method $path $(brief "$body"): no /$ask_pattern/ in $(tail -n 1 answer)"
}

# of_process FIELD: a number of /proc/PID/status.
of_process() {
    sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" /proc/"$server_pid"/status
}
descriptors() {
    find /proc/"$server_pid"/fd -type l 2>/dev/null | wc -l
}
