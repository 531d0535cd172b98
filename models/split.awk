# Divides Tatoeba's pairs, "source tab target", sorted as the file is, into training, development and test text.
#
#     awk -F'\t' -v out=FOLDER -f split.awk pairs.tsv
#
# Many source sentences have several translations. Every 120th different source sentence is for testing, with the first
# of its translations, and the one 60 further for development. No pair whose source or target is in either of them, in
# any spelling of upper and lower case, is left in the training text. The input is read twice: name it twice.
function plain(text) {
    text = tolower(text)
    gsub(/[^[:alnum:]\x80-\xff]+/, " ", text)
    return text
}
NF != 2 || $1 == "" || $2 == "" { next }
NR == FNR {
    if (!($1 in number)) {
        number[$1] = n++
        part = number[$1] % 120
        if (part == 60 || part == 0) {
            held[plain($1)] = held[plain($2)] = 1
            name = part ? "test" : "dev"
            print $1 > (out "/" name ".en")
            print $2 > (out "/" name ".fr")
        }
    }
    next
}
!(plain($1) in held) && !(plain($2) in held) {
    print $1 > (out "/train.en")
    print $2 > (out "/train.fr")
}
