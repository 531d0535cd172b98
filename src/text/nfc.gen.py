#!/usr/bin/env python3
"""Writes nfc_table.h, the tables of nfc.c:  python3 nfc.gen.py > nfc_table.h

Hangul syllables follow a formula and are left out.
"""
import textwrap
import unicodedata

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and not 0xAC00 <= c < 0xD7A4]


def decompositions():
    for c in CODE_POINTS:
        parts = unicodedata.decomposition(chr(c)).split()
        if parts and not parts[0].startswith("<"):
            yield c, int(parts[0], 16), int(parts[1], 16) if len(parts) > 1 else 0


def composes(c):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", chr(c))) == chr(c)


def combining_ranges():
    found = []
    for c in CODE_POINTS:
        kind = unicodedata.combining(chr(c))
        if kind and found and found[-1][1] == c - 1 and found[-1][2] == kind:
            found[-1][1] = c
        elif kind:
            found.append([c, c, kind])
    return found


def show(entries):
    """A row of the table for each line of text, not for each entry: there are three thousand."""
    text = " ".join(entries)
    print("\n".join(textwrap.wrap(text, 116, break_long_words=False)))


table = list(decompositions())
order = sorted((t[1], t[2], i) for i, t in enumerate(table) if t[2] and composes(t[0]))
print(f"/* Written by nfc.gen.py: not to be edited. Unicode {unicodedata.unidata_version}. */")
print("""#ifndef TEXT_NFC_TABLE_H
#define TEXT_NFC_TABLE_H

#include <stdint.h>

/* clang-format off */
/* Canonical decompositions into one code point (second 0) or two, in order of code. */
static const struct nfc_decomposition {
    uint32_t code, first, second;
} nfc_decompositions[] = {""")
show(f"{{0x{c:X},0x{a:X},0x{b:X}}}," for c, a, b in table)
print("""};

/* Those that composing undoes: places in the table above, in order of first, then second. */
static const uint16_t nfc_compositions[] = {""")
show(f"{i}," for _, _, i in order)
print("""};

/* Canonical combining classes other than 0. */
static const struct nfc_class {
    uint32_t first, last;
    uint8_t value;
} nfc_classes[] = {""")
show(f"{{0x{a:X},0x{b:X},{k}}}," for a, b, k in combining_ranges())
print("""};

#endif""")
