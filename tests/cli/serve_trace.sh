#!/bin/sh
# /v1/trace answers what `softalign trace` writes: serve_trace.sh PROGRAM CLIENT
# shellcheck disable=SC2154 # work, lib, failed and others are set in what is sourced
set -u
client=$(realpath "$2")
# shellcheck source=lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# shellcheck source=lib/train.sh
. "$lib/train.sh"
# shellcheck source=lib/serve.sh
. "$lib/serve.sh"

start || exit 1

# same ARGUMENT...: the last answer is what trace writes for these.
same() {
    run 0 '' trace -m model "$@"
    tail -n 1 answer | cmp -s - out || fail "trace $*: $(brief "$(tail -n 1 answer)"), not $(brief "$(cat out)")"
}

ask 200 '"weights":\[\[' POST /v1/trace '{"source":"dog cat horse","target":"xhorse xcat xdog"}'
same 'dog cat horse' 'xhorse xcat xdog'
ask 200 '"source_gradient":\[\[' POST /v1/trace '{"source":"dog cat horse"}'
same 'dog cat horse'
ask 200 '"step":\{"i":1' POST /v1/trace \
    '{"source":"dog cat","step":1,"weights":[0,0.5,0.5],"next":3,"gates":true,"sensitivity":false}'
same --step 1 --weights 0,0.5,0.5 --next 3 --gates --sensitivity no 'dog cat'

ask 400 'is missing' POST /v1/trace '{}'
ask 400 'is blank' POST /v1/trace '{"source":" "}'
ask 400 'one ..source' POST /v1/trace '{"source":["dog","cat"]}'
ask 400 'no step 99' POST /v1/trace '{"source":"dog","step":99}'
ask 400 'for which step' POST /v1/trace '{"source":"dog","weights":[1,0]}'
ask 400 'source has 2 symbols' POST /v1/trace '{"source":"dog","step":0,"weights":[1]}'
ask 400 'list of numbers' POST /v1/trace '{"source":"dog","step":0,"weights":["1",0]}'
ask 400 'list of 1 to' POST /v1/trace '{"source":"dog","step":0,"weights":7}'
ask 400 'at most 100' POST /v1/trace '{"source":"dog","step":0,"next":101}'
ask 400 'no option' POST /v1/trace '{"source":"dog","max_length":7}'
ask 405 'method' GET /v1/trace ''
stop_server

exit $failed
