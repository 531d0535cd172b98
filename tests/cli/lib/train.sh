# For the tests that train: sourced after run.sh.

# The same learner everywhere; what follows wins.
tiny='--vocab-type word --vocab-size 100 --dim-emb 24 --dim-rnn 32 --dim-dec 32 --dim-att 24 --dim-maxout 24
    --dropout 0 --dropout-emb 0 --dropout-src 0 --dropout-trg 0 --r-drop 0 --label-smoothing 0 --average 0 --learning-rate 0.01 --warmup 10 --schedule constant
    --mini-batch 16 --early-stopping 0 --threads 1'

# train STATUS STDERR-PATTERN ARGUMENT...
train() {
    train_want=$1 train_pattern=$2
    shift 2
    # shellcheck disable=SC2086 # a list of arguments
    run "$train_want" "$train_pattern" train $tiny "$@"
    [ ! -s out ] || fail "train $*: wrote to standard output"
}

# Waits until the command succeeds, at most 60 seconds.
wait_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || return 1
        sleep 0.1
    done
}

# write_text N: N pairs of 3 to 14 words in src and tgt, always the same; the target is the source backwards.
write_text() {
    awk -v n="$1" 'BEGIN {
        w = split("dog cat horse bear bird fish house tree car king queen child man woman doctor city", word)
        for (i = 0; i < n; i++) {
            s = t = ""
            for (k = 0; k < 3 + i * 7 % 12; k++) {
                x = word[1 + (i * i + 5 * k + int(i / 3) * k * k) % w]
                s = s (k ? " " : "") x
                t = "x" x (k ? " " : "") t
            }
            print s >"src"
            print t >"tgt"
        }
    }'
}

# The texts in a safetensors file, as JSON.
texts() {
    tail -c +9 "$1" | head -c "$(od -An -tu8 -N8 "$1" | tr -d ' ')"
}

# What is in a state.safetensors, but for the seconds that the run took.
timeless() {
    texts "$1" | sed 's/\\"seconds\\":[0-9.e+-]*//; s/ *$//'
    tail -c +$(($(od -An -tu8 -N8 "$1") + 9)) "$1"
}

# The updates done at the time of a state.safetensors.
updates() {
    texts "$1" | sed 's/.*,\\"update\\":\([0-9]*\).*/\1/'
}

# same_files FOLDER OTHER WHAT: two runs ended with the same models and states, byte for byte.
same_files() {
    for name in best last; do
        cmp -s "$1/$name.safetensors" "$2/$name.safetensors" || fail "$3: $name.safetensors of $1 and $2 differ"
    done
    timeless "$1/state.safetensors" >state_1
    timeless "$2/state.safetensors" >state_2
    cmp -s state_1 state_2 || fail "$3: state.safetensors of $1 and $2 differ"
}

# same_run FOLDER OTHER WHAT: and with the same metrics, but for time and speed.
same_run() {
    same_files "$@"
    for folder in "$1" "$2"; do
        sed 's/"\(seconds\|words_per_second\)":[0-9.e+-]*//g' "$folder/metrics.jsonl" >"metrics_$folder"
    done
    cmp -s "metrics_$1" "metrics_$2" || fail "$3: metrics.jsonl of $1 and $2 differ"
}

# loads FOLDER WHAT: the files of a run that are there can be read.
loads() {
    for file in "$1"/*.safetensors; do
        [ ! -e "$file" ] || "$program" inspect "$file" >/dev/null 2>complaint || fail "$2: $(cat complaint)"
    done
}

# finish FOLDER ARGUMENT...: trains to the end, resuming what is there.
finish() {
    finish_folder=$1
    shift
    resume=
    [ ! -e "$finish_folder/state.safetensors" ] || resume=--resume
    # shellcheck disable=SC2086
    train 0 '' -q "$@" -o "$finish_folder" $resume
}
