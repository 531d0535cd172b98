# How much of a translation's reference is found in it, from beginning to end. Reads lines of source words, reference
# and translation with tabs between; prints, for sources of at least `least` and at most `most` words, the percentage of
# the reference's pairs of neighbouring words that the translation has, in the first, second, ... fifth of the
# reference, and how many sentences there are.
BEGIN { FS = "\t" }
split($1, word, " ") < least || split($1, word, " ") > most { next }
{
    sentences++
    split("", pairs)
    n = split($3, word, " ")
    for (i = 1; i < n; i++)
        pairs[word[i] " " word[i + 1]]++
    n = split($2, word, " ")
    for (i = 1; i < n; i++) {
        fifth = int((i - 1) * 5 / (n - 1))
        all[fifth]++
        if (pairs[word[i] " " word[i + 1]] > 0) {
            pairs[word[i] " " word[i + 1]]--
            found[fifth]++
        }
    }
}
END {
    for (k = 0; k < 5; k++)
        printf "%.1f | ", (all[k] ? 100 * found[k] / all[k] : 0)
    printf "%d\n", sentences
}
