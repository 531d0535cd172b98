#!/usr/bin/env python3
"""Writes unicode_table.h, the tables of unicode_class.c:  python3 unicode_class.gen.py | clang-format > unicode_table.h

Punctuation, symbols and numbers are those of the `regex` package, lower case and white space those of Python
itself, because BLEU scores are compared with those of a program that runs on the two.
"""
import sys
import unicodedata

import regex

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
SIGMA = "\u03a3"


def ranges(members):
    found = []
    for c in members:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def print_ranges(name, members):
    found = ranges(members)
    print(f"static const utf8_range unicode_{name}[] = {{")
    print(" ".join(f"{{0x{a:X}, 0x{b:X}}}," for a, b in found))
    print("};\n")


def lower_runs():
    """Runs of code points a constant step (1 or 2) apart whose lower case is a constant distance away."""
    runs = []
    for c in CODE_POINTS:
        lower = chr(c).lower()
        if len(lower) != 1 or ord(lower) == c:  # U+0130 alone has two; the caller knows it
            continue
        delta = ord(lower) - c
        if runs:
            run = runs[-1]
            step = c - run["last"]
            if run["delta"] == delta and (step == run["step"] or (step <= 2 and run["first"] == run["last"])):
                run["last"], run["step"] = c, step
                continue
        runs.append({"first": c, "last": c, "step": 1, "delta": delta})
    return runs


def print_lower():
    print("static const unicode_run unicode_lower[] = {")
    print(" ".join(f"{{0x{r['first']:X}, 0x{r['last']:X}, {r['step']}, {r['delta']}}}," for r in lower_runs()))
    print("};\n")


def main():
    newest = max(v for v, c in ((14, 0x1FAF0), (15, 0x1FAE8), (16, 0x1FAE9), (17, 0x1F6D8))
                 if regex.match(r"\p{Assigned}", chr(c)))
    print("/* Written by unicode_class.gen.py: not to be edited. Punctuation, symbols and numbers of Unicode"
          f" {newest}.0,\n * lower case and white space of Unicode {unicodedata.unidata_version}. */")
    print("""#ifndef TEXT_UNICODE_TABLE_H
#define TEXT_UNICODE_TABLE_H

#include "base/utf8.h"

/* first, first + step, ..., last: the lower case is delta away. U+0130, whose lower case is two, is left out. */
typedef struct unicode_run {
    uint32_t first, last, step;
    int32_t delta;
} unicode_run;
""")
    print("/* General category P. */")
    print_ranges("punctuation", (c for c in CODE_POINTS if regex.match(r"\p{P}", chr(c))))
    print("/* General category S. */")
    print_ranges("symbol", (c for c in CODE_POINTS if regex.match(r"\p{S}", chr(c))))
    print("/* General category N. */")
    print_ranges("number", (c for c in CODE_POINTS if regex.match(r"\p{N}", chr(c))))
    print("/* What str.split() and str.rstrip() take away. */")
    print_ranges("space", (c for c in CODE_POINTS if chr(c).isspace()))

    # A capital sigma at the end of a word is told by the nearest neighbours that are not case-ignorable, so
    # lowering one beside each code point tells both properties.
    cased = [c for c in CODE_POINTS if (chr(c) + SIGMA).lower().endswith("\u03c2")]
    ignorable = sorted({c for c in CODE_POINTS if ("a" + chr(c) + SIGMA).lower().endswith("\u03c2")} - set(cased))
    print("/* Cased and not Case_Ignorable. */")
    print_ranges("cased", cased)
    print("/* Case_Ignorable. */")
    print_ranges("case_ignorable", ignorable)
    print_lower()
    print("#endif")


if __name__ == "__main__":
    sys.exit(main())
