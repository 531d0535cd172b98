#!/bin/sh
# Checks how the sources hang together: floors.sh [FOLDER OF THE PROJECT]
# Prints every violation as file:line: what, and exits 1 when there is one.
#   - a room of src/ includes only rooms below it (docs/architecture.md)
#   - cli/ sees the library through <softalign.h> only, and the server through its one header
#   - oneDNN, SentencePiece, libpng, libjpeg, cairo with pango, MPI and libmicrohttpd each stay in the one place that knows them
#   - no two files share a name, no file is far beyond 600 lines
#   - every source and test is in a list of meson.build
set -eu
cd "${1:-.}"

sources=$(find include src cli tests bench examples -name '*.[ch]' -o -name '*.cc' 2>/dev/null | sort)

# shellcheck disable=SC2086 # a list of words; no name in the project has a blank
includes() {
    awk '
    # Which rooms a room may include beside itself. train sees decode and eval: it validates with translations.
    BEGIN {
        sees["base"] = ""
        sees["math"] = "base"
        sees["tape"] = "base math"
        sees["op"] = "base math tape"
        sees["layer"] = "base math tape op"
        sees["model"] = "base math tape op layer text"
        sees["picture"] = "base"
        sees["text"] = "base picture"
        sees["ranks"] = "base math"
        sees["eval"] = "base text"
        sees["draw"] = "base"
        sees["align"] = "base text draw picture"
        sees["decode"] = "base math tape op layer model text draw align"
        sees["train"] = "base math tape op layer model text decode eval ranks"
        sees["explain"] = "base math tape op layer model text decode"
        sees["serve"] = "base"
        # Headers of other libraries that one place knows.
        home["dnnl"] = "^src/math/gemm[a-z0-9_]*\\.[ch]$"
        home["sentencepiece"] = "^src/text/subword\\.cc$"
        home["png"] = "^(src/picture/picture_png|(src/draw|tests/unit)/[a-z_]+)\\.c$" # draw has a png.h too
        home["jpeglib"] = "^(src/picture/picture_jpeg|tests/unit/test_picture)\\.c$"
        home["cairo"] = "^src/draw/canvas_cairo\\.c$"
        home["pango"] = "^src/draw/canvas_cairo\\.c$"
        home["mpi"] = "^src/ranks/transport_mpi\\.c$"
        home["microhttpd"] = "^src/serve/"
    }
    function violation(what) {
        printf "%s:%d: %s\n", FILENAME, FNR, what
        found = 1
    }
    FNR == 1 {
        split(FILENAME, part, "/")
        room = part[2]
        if (part[1] == "src" && !(room in sees))
            violation("no room " room " in tests/style/floors.sh")
    }
    /^[ \t]*#[ \t]*include/ {
        quoted = $0 ~ /include[ \t]*"/
        header = $0
        sub(/^[^"<]*["<]/, "", header)
        sub(/[">].*/, "", header)
        target = header ~ /\// ? substr(header, 1, index(header, "/") - 1) : ""
        for (name in home)
            if (header ~ "(^|/)" name && FILENAME !~ home[name])
                violation("<" header "> is included only by " home[name])

        if (part[1] == "src") {
            if (target in sees) {
                if (target != room && index(" " sees[room] " ", " " target " ") == 0)
                    violation(room " must not include " header)
            } else if (quoted)
                violation("\"" header "\" names no room; write \"room/" header "\" or <" header ">")
        } else if (part[1] == "cli") {
            if (header != "serve/serve.h" && (quoted ? target != "" : target in sees))
                violation("cli/ includes <softalign.h>, headers of its own and system headers only, not " header)
        } else if (part[1] == "include" && (quoted || (target != "" && target != "softalign")))
            violation("the public header includes standard headers and its own parts only, not " header)
    }
    END { exit found }' $sources /dev/null
}

names() {
    # A header and its source share a name on purpose, and a folder.
    echo "$sources" | awk '{
        stem = $0
        sub(/.*\//, "", stem)
        sub(/\.[a-z]+$/, "", stem)
        folder = $0
        sub(/[^\/]*$/, "", folder)
        if ((stem in first) && first[stem] != folder) {
            printf "%s: another file is called %s, in %s\n", $0, stem, first[stem]
            found = 1
        }
        first[stem] = folder
    }
    END { exit found }'
}

lengths() {
    # About 600 lines: a few more are a warning.
    # shellcheck disable=SC2086
    awk 'FNR == 601 { long[FILENAME] = 1 }
    { lines[FILENAME] = FNR }
    END {
        for (name in long) {
            fails = lines[name] > 700
            printf "%s: %d lines%s\n", name, lines[name], fails ? "; split it" : " (a warning: about 600 is the limit)"
            found = found || fails
        }
        exit found
    }' $sources /dev/null
}

listed() {
    found=0
    for file in $sources; do
        case $file in
        src/*.c | src/*.cc) list=src/meson.build name="'${file#src/}'" ;;
        cli/main.c) list=meson.build name="'$file'" ;;
        cli/*.c) list=cli/meson.build name="'${file#cli/}'" ;;
        tests/unit/test_*.c) list=tests/meson.build name=${file#tests/unit/test_} name="'${name%.c}'" ;;
        tests/fuzz/fuzz_*.c) list=tests/meson.build name=${file#tests/fuzz/} name="'${name%.c}'" ;;
        tests/grad/*.c) list=tests/meson.build name=${file#tests/grad/} name="'${name%.c}'" ;;
        *) continue ;;
        esac
        grep -qF "$name" "$list" || { echo "$file: not in $list"; found=1; }
    done
    for file in tests/cli/*.sh; do
        name=${file##*/}
        [ ! -e "$file" ] || grep -qF "'${name%.sh}'" tests/meson.build || {
            echo "$file: not in tests/meson.build"
            found=1
        }
    done
    return $found
}

status=0
for check in includes names lengths listed; do
    $check || status=1
done
exit $status
