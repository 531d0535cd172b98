#!/bin/sh
# help_pairs.sh PROGRAM: what help_pairs (examples/debian) makes of small pages, byte for byte.
set -eu

program=${1:?usage: help_pairs.sh PROGRAM}
dir=$(mktemp -d "${TMPDIR:-/tmp}/help_pairs.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# same NAME EXPECTED ACTUAL: two files
same() {
    if ! cmp -s "$2" "$3"; then
        echo "FAILED: $1"
        diff "$2" "$3" || :
        failures=$((failures + 1))
    fi
}

# refuses NAME STATUS PATTERN ARGUMENT...: exits with STATUS and says PATTERN on stderr
refuses() {
    name=$1 status=$2 pattern=$3
    shift 3
    got=0
    "$program" "$@" >"$dir/stdout" 2>"$dir/stderr" || got=$?
    if [ "$got" -ne "$status" ] || ! grep -q -e "$pattern" "$dir/stderr"; then
        echo "FAILED: $name: status $got, stderr: $(cat "$dir/stderr")"
        failures=$((failures + 1))
    fi
}

# page PATH: the rest of both pages comes from stdin, English and French parted by a line "==="
page() {
    mkdir -p "$(dirname "$dir/en/$1")" "$(dirname "$dir/fr/$1")"
    sed '/^===$/,$d' >"$dir/en/$1" <"$dir/in"
    sed '1,/^===$/d' >"$dir/fr/$1" <"$dir/in"
}

# ---- extraction and sentences ----
cat >"$dir/in" <<'END'
<!DOCTYPE html><html><head><title>Left out</title><script>if (a < b) "</p>";</script></head><body>
<header><p>Left out too</p></header><nav><ul><li>And this</li></ul></nav>
<!-- <p>no text</p> --><h1 class="x">Save&nbsp;the <b>do<i>cu</i>ment</b></h1>
<p>Press <span class="MAC" hidden="true">Command</span><span hidden="true">Ctrl</span>+S
   to   save.</p><script>var s = "<script>";</script><style>p > a { }</style>
<P TITLE='a > b'>Fish &amp; chips &lt;here&gt;, 2 &#x20AC; &unknown; ok</P>
<ul><li>Open the file. Then close it, e.g. Like this.<li>Close it now
<br/>Sort the rows</ul>
<pre>Dim left out</pre><p>Is it 1 < 2 here</p><footer><p>Bottom</p></footer></body></html>
===
<!DOCTYPE html><html><head><title>Omis</title><script>if (a < b) "</p>";</script></head><body>
<header><p>Omis aussi</p></header><nav><ul><li>Et ceci</li></ul></nav>
<h1>Enregistrer&#160;le <b>do<i>cu&shy;</i>ment</b></h1>
<p>Appuyez sur <span class="MAC" hidden="true">Commande</span><span hidden="true">Ctrl</span>+S
   pour enregistrer.</p><script>var s = "<p>x</p>";</script>
<p title="a > b">Poisson &amp; frites &lt;ici&gt;, 2 &euro; &unknown; &eacute;t&#233;</p>
<ul><li>Ouvrez le fichier. &Agrave; pr&eacute;sent fermez-le, p. ex. Comme ceci.<li>Fermez-le donc
<br>Trier les lignes</ul>
<pre>Dim omis</pre><p>Est-ce que 1 < 2 ici</p><footer><p>Bas</p></footer></body></html>
END
page guide/extract.html

# ---- filters: only the first pair stays, and two paragraphs whose sentences do not pair: their counts differ, or a
# number would be in another sentence ----
# The byte E9, which is not UTF-8, is written as @.
tr '@' '\351' >"$dir/in" <<'END'
<p>A good pair</p><p>Only in English</p><p>Équal Œuvre</p><p>=A1+B2*(3/4)</p><p>Use 10 or perhaps 20 columns</p>
<p>Short here it is</p><p>Two words</p><p>One two three four five six seven eight nine ten eleven</p>
<p>First it goes. Then it stops.</p><p>Take 5 of it. It is enough.</p><p>a GOOD pair</p><p>A bad byt@ here</p>
===
<p>Une bonne paire</p><p></p><p>éQUAL œUVRE</p><p>=A1+B2*(3/4) x</p><p>Utilisez 10 ou bien 40 colonnes</p>
<p>Le texte français de ce côté est beaucoup trop long pour cela</p>
<p>Deux mots</p><p>Un deux trois quatre cinq six sept huit neuf dix onze</p>
<p>Cela va, puis cela finit.</p><p>Prenez-en assez. Ce sera 5.</p><p>UNE bonne paire</p><p>Un mauvais octet ici</p>
END
page rules/filters.html

# ---- pages that do not pair ----
cat >"$dir/in" <<'END'
<p>Other blocks here</p><p>More of them</p>
===
<p>Autres blocs ici</p><div>Encore des blocs</div>
END
page other.html
echo '<p>No partner page</p>' >"$dir/en/alone.html"
echo '<p>Not a page</p>' >"$dir/en/notes.txt"

# ---- held out by the hash of the path: a, c and d. The source of a.html is on b.html too, so it is not written ----
for name in a b c d; do
    text=$name
    [ "$name" != b ] || text=A
    printf '<p>Text of page %s</p>\n===\n<p>Texte de la page %s</p>\n' "$text" "$name" >"$dir/in"
    page "$name.html"
done

mkdir "$dir/out"
"$program" --min-words 3 --max-words 10 --held-out 1 "$dir/en" "$dir/fr" "$dir/out" >"$dir/report" ||
    { echo "FAILED: exit status $?" && exit 1; }

for part in train valid test; do
    paste -d '|' "$dir/out/$part.en" "$dir/out/$part.fr" >"$dir/$part"
done
cat >"$dir/expected" <<'END'
Text of page A|Texte de la page b
Save the document|Enregistrer le document
Press Ctrl+S to save.|Appuyez sur Ctrl+S pour enregistrer.
Fish & chips <here>, 2 € &unknown; ok|Poisson & frites <ici>, 2 € &unknown; été
Open the file.|Ouvrez le fichier.
Then close it, e.g. Like this.|À présent fermez-le, p. ex. Comme ceci.
Sort the rows|Trier les lignes
Is it 1 < 2 here|Est-ce que 1 < 2 ici
A good pair|Une bonne paire
First it goes. Then it stops.|Cela va, puis cela finit.
Take 5 of it. It is enough.|Prenez-en assez. Ce sera 5.
END
same "training pairs" "$dir/expected" "$dir/train"
echo 'Text of page d|Texte de la page d' >"$dir/expected"
same "validation pairs" "$dir/expected" "$dir/valid"
echo 'Text of page c|Texte de la page c' >"$dir/expected"
same "test pairs" "$dir/expected" "$dir/test"
cat >"$dir/expected" <<'END'
8 pages: 1 on one side only, 1 with other block elements
       1 pairs dropped: nothing on one side or both
       1 pairs dropped: wrong UTF-8
       1 pairs dropped: equal but for case
       1 pairs dropped: fewer than two thirds of the characters are letters
       1 pairs dropped: fewer than half of the numbers on both sides
       1 pairs dropped: one side too long for the other
       2 pairs dropped: too few words
       1 pairs dropped: too many words
       2 pairs dropped: seen before, or of a held-out page and not only there
      11 pairs in train, of 4 pages
       1 pairs in valid, of 2 pages
       1 pairs in test, of 2 pages
END
same "report" "$dir/expected" "$dir/report"

# ---- what it refuses ----
mkdir "$dir/empty"
refuses "an unknown option" 2 'unknown option --most' --most 3 "$dir/en" "$dir/fr" "$dir/out"
refuses "an option without its number" 2 '--max-words needs a number' --max-words
refuses "a number that is none" 2 "not '3x'" --min-words 3x "$dir/en" "$dir/fr" "$dir/out"
refuses "a negative number" 2 "not '-3'" --min-words -3 "$dir/en" "$dir/fr" "$dir/out"
refuses "two folders instead of three" 2 '^help_pairs: usage: ' "$dir/en" "$dir/fr"
refuses "a folder that is not there" 1 'nowhere.*No such file' "$dir/nowhere" "$dir/fr" "$dir/out"
refuses "a folder without pages" 1 'empty: no HTML files' "$dir/empty" "$dir/fr" "$dir/out"
refuses "an output folder that is not there" 1 'nowhere/train.en: No such file' --held-out 1 "$dir/en" "$dir/fr" \
    "$dir/nowhere"
refuses "more held-out pairs than there are" 1 'too little text' --held-out 100 "$dir/en" "$dir/fr" "$dir/out"

exit "$((failures > 0))"
