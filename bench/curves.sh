#!/bin/sh
# Validation BLEU by epoch of training runs, as SVG on standard output.
#   bench/curves.sh NAME=metrics.jsonl...
set -eu
[ $# -ge 1 ] || { echo "usage: $0 NAME=metrics.jsonl..." >&2; exit 2; }
for run in "$@"; do
    sed -n '/"kind":"validation"/p' "${run#*=}" |
        sed -E 's/.*"epoch":([0-9.]+).*"bleu":([0-9.]+).*/\1 \2/' | sed "s/^/${run%%=*}	/"
done | awk -F '\t' '
{ split($2, v, " "); n[$1]++; x[$1, n[$1]] = v[1]; y[$1, n[$1]] = v[2]
  if (!($1 in seen)) { seen[$1] = 1; name[++runs] = $1 }
  if (v[1] > far) far = v[1]
  if (v[2] > high) high = v[2] }
function X(e) { return 50 + e / far * 560 }
function Y(b) { return 330 - b / high * 300 }
END {
  high = int(high / 10 + 1) * 10; far = int(far + 0.999)
  split("#1b6ca8 #c0392b #2e8b57 #8e44ad", colour, " ")
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 380\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"640\" height=\"380\" fill=\"white\"/>"
  for (b = 0; b <= high; b += 10)
    printf "<path d=\"M50 %.1fH610\" stroke=\"#ddd\"/><text x=\"44\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", Y(b), Y(b) + 4, b
  for (e = 0; e <= far; e += far > 12 ? 2 : 1)
    printf "<text x=\"%.1f\" y=\"348\" text-anchor=\"middle\">%d</text>\n", X(e), e
  print "<text x=\"330\" y=\"370\" text-anchor=\"middle\">epochs</text><text x=\"50\" y=\"18\">validation BLEU, greedy</text>"
  for (r = 1; r <= runs; r++) {
    path = ""
    for (i = 1; i <= n[name[r]]; i++) path = path sprintf("%s%.1f %.1f", i > 1 ? "L" : "M", X(x[name[r], i]), Y(y[name[r], i]))
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour[r]
    printf "<path d=\"M420 %dh20\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"446\" y=\"%d\">%s</text>\n", 240 + 20 * r, colour[r], 244 + 20 * r, name[r]
  }
  print "</svg>"
}'
