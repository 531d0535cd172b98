#!/usr/bin/python3
"""Makes a small text of pictures and captions of Debian's tuxpaint-stamps-default: prepare.py FOLDER

Needs the Debian packages tuxpaint-stamps-default, librsvg2-bin, python3-pil and python3-numpy. Writes

    FOLDER/train.pictures, train.captions   a path and a caption a line
    FOLDER/valid.*                          40 pictures to choose a model by
    FOLDER/test.*                           50 pictures to judge it by
    FOLDER/png/                             pictures that are there as SVG only

The stamps have variants: numbered, mirrored, outlined and filled, left and right, the same as a drawing. Such must not
stand on both sides of the split, so pictures are put into families, and families into the parts: two are of one family
when their names are the same but for digits and words like "outline", or when they look alike, mirrored or turned too,
at 16 x 16 pixels. Their captions play no part in it: two photographs of cows may both be "A cow". Which part a family
goes to follows from a hash of its first name.
"""
import hashlib
import os
import re
import subprocess
import sys

import numpy
from PIL import Image

STAMPS = "/usr/share/tuxpaint/stamps"
TEST, VALID = 50, 40
ALIKE = 0.10  # root of the mean square difference of two thumbnails, colours 0 to 1
VARIANTS = {"left", "right", "outline", "outlined", "filled", "small", "large", "front", "back", "side", "mirror",
            "flip", "flipped", "a", "b", "c", "white", "black", "red", "blue", "green", "yellow", "brown"}


def find_pictures():
    """[(name, picture, caption)]: the picture is a PNG where there is one."""
    found = []
    for folder, _, files in sorted(os.walk(STAMPS)):
        for file in sorted(files):
            stem, extension = os.path.splitext(os.path.join(folder, file))
            if extension != ".txt":
                continue
            with open(stem + ".txt", encoding="utf-8") as text:
                caption = text.readline().strip()
            picture = next((stem + e for e in (".png", ".svg") if os.path.exists(stem + e)), None)
            if picture and caption:
                found.append((os.path.relpath(stem, STAMPS), picture, caption))
    return found


def to_png(name, picture, folder):
    if picture.endswith(".png"):
        return picture
    made = os.path.join(folder, "png", name.replace("/", "-") + ".png")
    if not os.path.exists(made):
        subprocess.run(["rsvg-convert", "--width", "256", "--keep-aspect-ratio", picture, "-o", made], check=True)
    return made


def thumbnails(path):
    """The picture on white at 16 x 16, and all ways to turn and mirror it: (8, 768)."""
    image = Image.open(path).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    small = Image.alpha_composite(white, image).convert("RGB").resize((16, 16), Image.BOX)
    pixels = numpy.asarray(small, dtype=numpy.float32) / 255
    ways = [numpy.rot90(side, turn) for side in (pixels, pixels[:, ::-1]) for turn in range(4)]
    return numpy.stack([way.reshape(-1) for way in ways])


def plain_name(name):
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", os.path.basename(name)).lower())
    kept = [word for word in words if word not in VARIANTS]
    return os.path.dirname(name).split("/")[0] + "/" + "-".join(kept or words)


def families(pictures, paths):
    """The family of each, as the number of its first picture."""
    head = list(range(len(pictures)))

    def find(i):
        while head[i] != i:
            i = head[i]
        return i

    def join(i, k):
        i, k = sorted((find(i), find(k)))
        head[k] = i

    by_name = {}
    for i, (name, _, _) in enumerate(pictures):
        join(i, by_name.setdefault(plain_name(name), i))
    shown = numpy.stack([thumbnails(path) for path in paths])
    for i in range(len(pictures)):
        difference = ((shown[:, 0][:, None] - shown[i][None]) ** 2).mean(axis=2).min(axis=1)
        contrast = shown[i][0].std()  # thin drawings on white are all alike: what differs counts by their ink
        for k in numpy.flatnonzero(difference ** 0.5 < ALIKE * min(1, 4 * contrast)):
            join(i, int(k))
    return [find(i) for i in range(len(pictures))]


def tokens(caption):
    return " ".join(re.findall(r"[\w’'-]+|[^\w\s]", caption))


def deal(pictures, family):
    """Which part each picture goes to. Of a family that is not trained on, the first is enough."""
    heads = sorted(set(family), key=lambda i: hashlib.sha256(pictures[i][0].encode()).hexdigest())
    part = dict.fromkeys(heads[:TEST], "test")
    part.update(dict.fromkeys(heads[TEST:TEST + VALID], "valid"))
    return [part.get(f, "train") if f == i or f not in part else None for i, f in enumerate(family)]


def main(folder):
    os.makedirs(os.path.join(folder, "png"), exist_ok=True)
    pictures = find_pictures()
    paths = [to_png(name, picture, folder) for name, picture, _ in pictures]
    family = families(pictures, paths)
    parts = deal(pictures, family)
    for part in ("train", "valid", "test"):
        with open(os.path.join(folder, part + ".pictures"), "w", encoding="utf-8") as left, \
                open(os.path.join(folder, part + ".captions"), "w", encoding="utf-8") as right:
            for path, (_, _, caption), of in zip(paths, pictures, parts):
                if of == part:
                    left.write(path + "\n")
                    right.write(tokens(caption) + "\n")
        print(part, parts.count(part))
    print("families", len(set(family)), "left out", parts.count(None))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
