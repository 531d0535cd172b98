#!/usr/bin/env python3
"""Makes files a part of the program: embed.py OUTPUT.c TABLE PATH=FILE...

Writes the table `const serve_asset TABLE[]` (src/serve/assets.h) with each FILE, compressed, under the PATH that a
browser asks for. A PATH that ends with / and is longer stands for a folder: all files in FILE, which then is one. The
output depends on the files' contents alone.
"""
import gzip
import hashlib
import os
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}


def files(arguments):
    for argument in arguments:
        path, name = argument.split("=", 1)
        if len(path) > 1 and path.endswith("/"):
            for folder, folders, names in os.walk(name):
                folders.sort()
                for inner in sorted(names):
                    whole = os.path.join(folder, inner)
                    yield path + os.path.relpath(whole, name).replace(os.sep, "/"), whole
        else:
            yield path, name


def main():
    output, table, *arguments = sys.argv[1:]
    arrays, rows = [], []
    for number, (path, name) in enumerate(files(arguments)):
        with open(name, "rb") as file:
            plain = file.read()
        packed = gzip.compress(plain, 9, mtime=0)
        kind = TYPES.get(os.path.splitext(name)[1])
        if kind is None:
            sys.exit(f"embed.py: {name}: no type is known for its ending")
        lines = [", ".join(map(str, packed[i : i + 24])) for i in range(0, len(packed), 24)]
        arrays.append(f"static const unsigned char file_{number}[] = {{\n" + ",\n".join(lines) + "};\n")
        tag = hashlib.sha256(plain).hexdigest()[:16]
        rows.append(
            f'    {{"{path}", "{kind}", "\\"{tag}\\"", file_{number}, sizeof file_{number}, {len(plain)}}},\n'
        )
    text = "/* Written by scripts/embed.py. */\n" + '#include "serve/assets.h"\n\n' + "".join(arrays)
    text += f"\nconst serve_asset {table}[] = {{\n" + "".join(rows) + "    {0}};\n"
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


main()
