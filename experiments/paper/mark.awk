# Puts ‖ into a translation behind the last three neighbouring words that the reference has too: from there on it has
# lost the thread, as far as words can tell. Reads lines of reference and translation with a tab between.
BEGIN { FS = "\t" }
{
    split("", seen)
    n = split($1, word, " ")
    for (i = 1; i + 2 <= n; i++)
        seen[word[i] " " word[i + 1] " " word[i + 2]]
    n = split($2, word, " ")
    last = 0
    for (i = 1; i + 2 <= n; i++)
        if ((word[i] " " word[i + 1] " " word[i + 2]) in seen)
            last = i + 2
    line = last == 0 ? "‖ " : ""
    for (i = 1; i <= n; i++)
        line = line word[i] (i == last && i < n ? " ‖" : "") (i < n ? " " : "")
    print line
}
