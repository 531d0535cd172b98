# Joins neighbouring lines, by turns 1, 1, 2, 1, 3, 1, 4, 1, 5 and 1 of them, the same in every file: help pages have
# short sentences, and the experiments want long ones.
BEGIN { turns = split("1 1 2 1 3 1 4 1 5 1", size, " ") }
{
    line = line (n++ ? " " : "") $0
    if (n == size[turn % turns + 1]) {
        print line
        line = ""
        n = 0
        turn++
    }
}
END {
    if (n)
        print line
}
