#!/bin/bash
# Each check of floors.sh finds a violation planted in a small project that is otherwise clean.
set -eu
floors=$(cd "$(dirname "$0")" && pwd)/floors.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

plain_project() {
    rm -rf "${folder:?}"/*
    cd "$folder"
    mkdir -p include src/{base,math,op,model,text,eval,align,decode,train,serve,misc} cli tests/{unit,grad,cli} bench examples
    echo '#include <stddef.h>' >include/softalign.h
    printf '#include "base/error.h"\n#include <sys/stat.h>\n' >src/base/error.c
    printf '#include "base/error.h"\n#include <dnnl.h>\n' >src/math/gemm.c
    printf '#include "text/subword.h"\n#include <sentencepiece_processor.h>\n' >src/text/subword.cc
    printf '#include "eval/bleu.h"\n#include "decode/beam.h"\n' >src/train/validate.c
    printf '#include <softalign.h>\n#include "cli.h"\n' >cli/main.c
    echo "'base/error.c' 'math/gemm.c' 'text/subword.cc' 'train/validate.c'" >src/meson.build
    echo "'cli.c'" >cli/meson.build
    echo "'cli/main.c'" >meson.build
    echo "'error' 'grad_op' 'translate'" >tests/meson.build
    touch tests/unit/test_error.c tests/grad/grad_op.c tests/cli/translate.sh
}

# finds TEXT FILE CONTENT: with that file, floors.sh fails with a line that holds the text.
finds() {
    plain_project
    printf "$3" >"$2"
    if output=$("$floors" "$folder"); then
        echo "not found: $1"
        failed=1
    elif ! grep -qF -- "$1" <<<"$output"; then
        printf 'expected "%s", got:\n%s\n' "$1" "$output"
        failed=1
    fi
}
# passes FILE CONTENT [TEXT]: with that file, floors.sh succeeds, and says the text.
passes() {
    plain_project
    printf "$2" >"$1"
    if ! output=$("$floors" "$folder") || ! grep -qF -- "${3-}" <<<"$output"; then
        printf 'a clean %s gave:\n%s\n' "$1" "$output"
        failed=1
    fi
}

lines() {
    printf '\\n%.0s' $(seq "$1")
}

passes src/op/linear.h '#include "math/gemm.h"\n'
finds 'src/base/file.h:2: base must not include math/gemm.h' src/base/file.h '\n#include "math/gemm.h"\n'
finds 'op must not include model/config.h' src/op/linear.h '# include "model/config.h"\n'
finds 'op must not include model/config.h' src/op/linear.h '#include <model/config.h>\n'
finds 'model must not include eval/bleu.h' src/model/config.h '#include "eval/bleu.h"\n'
finds 'eval must not include model/config.h' src/eval/bleu.h '#include "model/config.h"\n'
finds 'align must not include decode/beam.h' src/align/matrix.h '#include "decode/beam.h"\n'
finds 'decode must not include train/sgd.h' src/decode/beam.h '#include "train/sgd.h"\n'
finds '"gemm.h" names no room' src/math/vecmath.h '#include "gemm.h"\n'
finds 'no room misc' src/misc/random.h '\n'
finds 'cli/ includes <softalign.h>' cli/command.h '#include "base/error.h"\n'
finds 'cli/ includes <softalign.h>' cli/command.h '#include <base/error.h>\n'
finds 'serve/queue.h' cli/command.h '#include "serve/queue.h"\n'
passes cli/command.h '#include "serve/serve.h"\n'
finds 'serve must not include decode/beam.h' src/serve/queue.h '#include "decode/beam.h"\n'
finds '<microhttpd.h> is included only by' src/base/error.c '#include <microhttpd.h>\n'
finds 'the public header' include/softalign.h '#include "base/error.h"\n'
finds '<dnnl.h> is included only by' src/math/vecmath.h '#include <dnnl.h>\n'
finds '<oneapi/dnnl/dnnl.h> is included only by' src/op/linear.h '#include <oneapi/dnnl/dnnl.h>\n'
finds '<sentencepiece_trainer.h> is included only by' src/text/vocab.h '#include <sentencepiece_trainer.h>\n'
finds '<cairo-pdf.h> is included only by' src/align/x.c '#include <cairo-pdf.h>\n'
finds '<pango/pangocairo.h> is included only by' src/align/x.c '#include <pango/pangocairo.h>\n'
finds '<mpi.h> is included only by' src/base/error.c '#include <mpi.h>\n'
finds 'another file is called error' src/model/error.h ''
passes src/base/long.h "$(lines 600)"
passes src/base/long.h "$(lines 601)" 'src/base/long.h: 601 lines'
finds 'src/base/long.h: 701 lines; split it' src/base/long.h "$(lines 701)"
finds 'src/base/rng.c: not in src/meson.build' src/base/rng.c ''
finds 'cli/cmd_serve.c: not in cli/meson.build' cli/cmd_serve.c ''
finds 'tests/unit/test_rng.c: not in tests/meson.build' tests/unit/test_rng.c ''
finds 'tests/grad/grad_gru.c: not in tests/meson.build' tests/grad/grad_gru.c ''
finds 'tests/cli/align.sh: not in tests/meson.build' tests/cli/align.sh ''
exit $failed
