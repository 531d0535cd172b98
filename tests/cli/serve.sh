#!/bin/sh
# What the server answers: serve.sh PROGRAM CLIENT
# Every failed check is printed; exits 1 when there is one.
set -u
client=$(realpath "$2")
. "$(dirname "$0")/lib/run.sh"
. "$lib/train.sh"
. "$lib/serve.sh"

json='Content-Type: application/json'
form='Content-Type: application/x-www-form-urlencoded'

"$program" translate -m model -q --alignment --word-scores --output-format jsonl <src >wanted.jsonl
"$program" translate -m model -q <src >wanted
"$program" score -m model -q src tgt >wanted_scores
"$program" align -m model -q src tgt >wanted_links
first=$(head -n 1 src)
first_out=$(head -n 1 wanted)
second=$(sed -n 2p src)
second_out=$(sed -n 2p wanted)

start --access-log access || exit 1

# ---- our own interface says what the program says

ask 200 "\"text\":\"$first_out\"" POST /v1/translate "{\"text\":\"$first\"}"
ask 200 "\"text\":\"$first_out\".*\"text\":\"$second_out\"" POST /v1/translate "{\"text\":[\"$first\",\"$second\"]}"
score=$(head -n 1 wanted.jsonl | sed 's/.*"score":\([-0-9.]*\).*/\1/; s/0*$//')
ask 200 "\"score\":$score" POST /v1/translate "{\"text\":\"$first\"}"
ask 200 '"symbols":\[.*"symbol_scores":\[' POST /v1/translate "{\"text\":\"$first\",\"word_scores\":true}"
ask 200 '"source_words":.*"words":.*"alignment":\[\[.*"links":\[\[' POST /v1/translate \
    "{\"text\":\"$first\",\"alignment\":true}"
ask 200 '"text":.*"text":.*"text":' POST /v1/translate "{\"text\":\"$first\",\"n_best\":3}"
ask 200 '^event: done' POST /v1/translate "{\"text\":\"$first\",\"stream\":true}"
grep -q '^event: token' answer || fail 'a stream without tokens'
grep -q '^data: .*"translations"' answer || fail 'a stream without the whole answer'
# 4 decimals: numbers need not be written alike.
wanted_score=$(head -n 1 wanted_scores | cut -f 1 | cut -c 1-7 | sed 's/0*$//')
ask 200 "\"score\":$wanted_score" POST /v1/score "{\"source\":\"$first\",\"target\":\"$(head -n 1 tgt)\"}"
ask 200 '"weights":\[\[' POST /v1/align "{\"source\":\"$first\",\"target\":\"$(head -n 1 tgt)\"}"
links=$(tail -n 1 answer | sed 's/.*"links":\[\[//; s/\]\].*//; s/\],\[/ /g; s/\([0-9]*\),\([0-9]*\),[0-9.e-]*/\1-\2/g')
[ "$links" = "$(head -n 1 wanted_links)" ] || fail "/v1/align: $links, not $(head -n 1 wanted_links)"
ask 200 '"explanations":\[\{"line":1,"source":' POST /v1/explain "{\"source\":\"$first\",\"permutations\":3}"
ask 200 '"leave-one-out"' POST /v1/explain "{\"source\":\"$first\",\"target\":\"$(head -n 1 tgt)\",\"permutations\":0}"
ask 200 '"name":"en-fr","preset":"small","source":"en","target":"fr"' GET /v1/models ''
! grep -q "$work" answer || fail '/v1/models tells a path'

# ---- texts of all kinds

ask 200 '\{"translations":\[\]\}' POST /v1/translate '{"text":[]}'
ask 200 '"text":""' POST /v1/translate '{"text":""}'
ask 200 '"text":""' POST /v1/translate '{"text":"  \\t "}'
ask 200 '"translations"' POST /v1/translate '{"text":"\\ud83d\\ude00 &amp; <b>\\r\\n\\u00e9 ||| \\"x\\""}'
ask 400 'UTF-8|decode' POST /v1/translate '{"text":"caf\0351"}'
ask 400 'not JSON' POST /v1/translate '{"text":"a\\u0000b"}'

# ---- requests that are none

for body in '' '[]' 'null' '""' '7' '{' '{"text":"a"' '{"text":"a"}x' '{"text":"a","text":"b"}'; do
    ask 400 '"code":"bad_request"' POST /v1/translate "$body"
done
ask 400 '\\"text\\" is missing' POST /v1/translate '{}'
ask 400 'must be a text' POST /v1/translate '{"text":7}'
ask 400 'must be a text' POST /v1/translate '{"text":[null]}'
ask 400 'no option \\"beam\\"' POST /v1/translate '{"text":"a","beam":3}'
ask 400 'beam_size\\" must be a whole number' POST /v1/translate '{"text":"a","beam_size":"3"}'
ask 400 'beam size is 0' POST /v1/translate '{"text":"a","beam_size":0}'
ask 400 'max-beam-size' POST /v1/translate '{"text":"a","beam_size":17}'
ask 400 'max-n-best' POST /v1/translate '{"text":"a","n_best":10000}'
ask 400 'n-best is 6' POST /v1/translate '{"text":"a","n_best":6}'
ask 400 'max-length' POST /v1/translate '{"text":"a","max_length":1000000}'
ask 400 'go with \\"sample\\"' POST /v1/translate '{"text":"a","top_k":3}'
ask 400 'go with \\"alignment\\"' POST /v1/translate '{"text":"a","align_shift":1}'
ask 400 'cannot protect' POST /v1/translate '{"text":"a","protect":true}'
ask 400 'no model' POST /v1/translate '{"text":"a","model":"de-en"}'
ask 400 '2 texts of \\"prefix\\"' POST /v1/translate '{"text":"a","prefix":["b","c"]}'
ask 400 '1 sources and 2 targets' POST /v1/score '{"source":"a","target":["b","c"]}'
ask 400 'max-adversaries' POST /v1/explain '{"source":"a","adversaries":6}'
ask 404 not_found GET /nothing ''
ask 404 not_found POST /v1/translate/ '{"text":"a"}'
ask 405 '^Allow: POST' GET /v1/translate ''
ask 405 '^Allow: GET, HEAD' POST /health '{}'
ask 405 method_not_allowed PUT /v1/translate ''
ask 200 '^Content-Type: application/json' HEAD /v1/models ''
ask 405 method_not_allowed OPTIONS /v1/translate ''

# ---- LibreTranslate's

ask 200 "^\{\"translatedText\":\"$first_out\"\}$" POST /translate "{\"q\":\"$first\",\"source\":\"en\",\"target\":\"fr\"}" "$json"
ask 200 "\[\"$first_out\",\"$second_out\"\]" POST /translate \
    "{\"q\":[\"$first\",\"$second\"],\"source\":\"en\",\"target\":\"fr\",\"format\":\"text\"}" "$json"
escaped=$(echo "$first" | tr ' ' '+')
ask 200 "^\{\"translatedText\":\"$first_out\"\}$" POST /translate "q=$escaped&source=en&target=fr" "$form"
ask 200 "^\{\"translatedText\":\"$first_out\"\}$" POST /translate \
    "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n$first\r\n--b\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--b\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nfr\r\n--b--\r\n" \
    'Content-Type: multipart/form-data; boundary=b'
ask 200 '"alternatives":\[".*",".*"\]' POST /translate "q=$escaped&source=en&target=fr&alternatives=2" "$form"
ask 200 '"detectedLanguage":\{"confidence":[0-9.]*,"language":"en"\}' POST /translate "q=$escaped&source=auto&target=fr" "$form"
ask 200 '^\{"translatedText":\[\]\}$' POST /translate '{"q":[],"source":"en","target":"fr"}' "$json"
ask 200 '^\{"translatedText":""\}$' POST /translate '{"q":" ","source":"en","target":"fr"}' "$json"
for body in '{}' '{"q":"","source":"en","target":"fr"}' '{"q":null,"source":"en","target":"fr"}'; do
    ask 400 '^\{"error":"Invalid request: missing q parameter"\}$' POST /translate "$body" "$json"
done
ask 400 '^\{"error":"Invalid JSON format"\}$' POST /translate '[]' "$json"
ask 400 '^\{"error":".*not JSON' POST /translate '""' "$json"
ask 400 '^\{"error":".*no body' POST /translate '' "$json"
ask 400 'missing source' POST /translate '{"q":"a","target":"fr"}' "$json"
ask 400 'missing target' POST /translate '{"q":"a","source":"en"}' "$json"
ask 400 'de is not supported' POST /translate '{"q":"a","source":"de","target":"fr"}' "$json"
ask 400 'not available' POST /translate '{"q":"a","source":"fr","target":"en"}' "$json"
ask 400 'html format is not supported' POST /translate '{"q":"a","source":"en","target":"fr","format":"html"}' "$json"
ask 400 'alternatives \(10000\) exceeds limit' POST /translate '{"q":"a","source":"en","target":"fr","alternatives":10000}' "$json"
ask 400 'two fields' POST /translate 'q=a&q=b&source=en&target=fr' "$form"
ask 400 'not UTF-8' POST /translate 'q=caf%%E9&source=en&target=fr' "$form"
ask 400 'no boundary' POST /translate 'a' 'Content-Type: multipart/form-data'
ask 400 'last boundary' POST /translate '--b\r\nContent-Disposition: form-data; name="q"\r\n\r\nx' \
    'Content-Type: multipart/form-data; boundary=b'
ask 200 '^\[\{"code":"en","name":"English","targets":\["fr"\]\},\{"code":"fr","name":"French","targets":\[\]\}\]$' GET /languages ''
ask 200 '^\[\{"confidence":[0-9.]*,"language":"fr"\},\{"confidence":0.0,"language":"en"\}\]$' POST /detect 'q=xdog+xcat+xking' "$form"
ask 200 '"keyRequired":false' GET /frontend/settings ''

# ---- OpenNMT's

ask 200 "^\[\[\{\"src\":\"$first\",\"tgt\":\"$first_out\",\"n_best\":1,\"pred_score\":-[0-9.]*\}\]\]$" POST /translator/translate \
    "[{\"src\":\"$first\",\"id\":0}]" "$json"
ask 200 '"model_id":0' GET /translator/models ''
ask 200 '"status":"ok"' GET /translator/health ''
ask 400 '"status":"error"' POST /translator/translate '[]'
ask 400 '"status":"error"' POST /translator/translate '[{"id":0}]'
ask 400 'no model' POST /translator/translate '[{"src":"a","id":7}]'

# ---- the rest

ask 200 '"status":"ok"' GET /health ''
ask 200 'softalign_requests_total\{route="/v1/translate",status="200"\}' GET /metrics ''
ask 200 '"/v1/translate"' GET /openapi.json ''
ask 200 '^Content-Security-Policy: default-src .none.' GET / ''
ask 200 '^Content-Encoding: gzip' GET /openapi.json '' 'Accept-Encoding: gzip'
etag=$(sed -n 's/^ETag: //p' answer | tr -d '\r')
ask 304 '' GET /openapi.json '' "If-None-Match: $etag"

# ---- sizes that are not what they say

printf 'POST /v1/translate HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n\r\n{' | "$client" "$url" raw >answer
grep -q '^HTTP/1.1 413' answer && grep -q 'max-body' answer || fail "a length of 100 MB: $(cat answer)"
{
    printf 'POST /v1/translate HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n'
    printf '100000\r\n%1048576s\r\n100000\r\n%1048576s\r\n0\r\n\r\n' '' ''
} | "$client" "$url" raw >answer
grep -q '^HTTP/1.1 413' answer && grep -q 'max-body' answer || fail "chunks of 2 MB: $(cat answer)"
{
    printf 'POST /v1/translate HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    printf '5\r\n{"tex\r\n8\r\nt":"dog"\r\n1\r\n}\r\n0\r\n\r\n'
} | "$client" "$url" raw >answer
grep -q '^HTTP/1.1 200' answer || fail "a chunked request: $(cat answer)"
head -c 2000 /dev/urandom | "$client" "$url" raw >answer
ask 400 'more than 1000 \(--max-items\)' POST /v1/translate "{\"text\":[$(yes '"a",' | head -n 1000 | tr -d '\n')\"a\"]}"
ask 400 'max-characters' POST /v1/translate "{\"text\":\"$(head -c 100001 /dev/zero | tr '\0' a)\"}"
ask 200 '"status":"ok"' GET /health ''

# ---- the log has no texts

! grep -q "$first" access || fail 'a text in the access log'
lines=$(wc -l <access)
[ "$lines" -gt 90 ] || fail "$lines lines in the access log"
grep -q '"route":"/v1/translate","status":200,"received":[1-9][0-9]*,"sent":[1-9][0-9]*,"items":2,' access ||
    fail "no line of two items in the access log"

# ---- the end

stop_server
[ "$server_status" -eq 0 ] || fail "SIGTERM: exit status $server_status: $(cat log)"
grep -q 'stopping: SIGTERM' log || fail "SIGTERM: $(cat log)"

# ---- keys, rates, other limits

printf '# keys\nsesame\n\nabracadabra\n' >keys
start --api-keys keys --rate 3 --cors https://example.org --max-time 0.001 --max-queue 2 --max-items 2
ask 401 'API key is needed' POST /v1/translate '{"text":"dog"}'
ask 401 'no such API key' POST /v1/translate '{"text":"dog"}' 'Authorization: Bearer sesam'
ask 401 'no such API key' POST /v1/translate '{"text":"dog"}' 'Authorization: Bearer sesamee'
ask 403 '^\{"error":"Please contact' POST /translate '{"q":"dog","source":"en","target":"fr"}' "$json"
ask 403 '^\{"error":"Invalid API key"\}' POST /translate '{"q":"dog","source":"en","target":"fr","api_key":"x"}' "$json"
ask 200 '"status":"ok"' GET /health ''
ask 400 'is missing' POST /v1/translate '{}' 'Authorization: Bearer sesame'
ask 400 'missing source' POST /translate '{"q":"dog","api_key":"sesame"}' "$json"
ask 400 'is missing' POST /v1/score '{}' 'Authorization: Bearer sesame'
ask 429 '^\{"error":"Slowdown: 3 per 1 minute"\}' POST /translate '{"q":"dog","api_key":"sesame"}' "$json"
grep -q '^Retry-After: [1-9]' answer || fail 'a 429 without Retry-After'
ten='dog cat horse bear bird fish house tree car king'
ask 503 'max-time' POST /v1/explain "{\"source\":[\"$ten $ten\",\"$ten $ten\"],\"adversaries\":5,\"adversary_steps\":1000}" \
    'Authorization: Bearer abracadabra'
ask 204 '^Access-Control-Allow-Origin: https://example.org' OPTIONS /v1/translate ''
stop_server

# ---- what cannot be served

run 2 'which model' serve
run 2 'SOURCE-TARGET=FILE' serve -m en=model
run 1 'nowhere: ' serve -m nowhere --port 0
grep -q . out && fail 'an address of a server that did not start'
run 2 'numeric address' serve -m model --host localhost
run 2 'max-items' serve -m model --max-queue 10
echo >keys
run 1 'has no keys' serve -m model --api-keys keys --port 0
exit $failed
