# Of what align --align-subwords --format jsonl wrote of the same pairs with one model after the other: the numbers of
# the pairs that have no unknown word on either side in any. pairs: how many there are
/"<unk>"/ { unknown[(NR - 1) % pairs + 1] }
END {
    if (NR == 0 || NR % pairs != 0) {
        print "known.awk: " NR " lines of " pairs " pairs" >"/dev/stderr"
        exit 1
    }
    for (i = 1; i <= pairs; i++)
        if (!(i in unknown))
            print i
}
