#!/usr/bin/env python3
"""Small images of each kind, and what Pillow makes of them.

    make_images.py              (needs Pillow 10 and numpy)

writes the images beside it and images.csv, a row for each image and number of
channels: file, channels, height, width, the CRC-32 of the pixels after
convert('RGB') or convert('L'), size, and the CRC-32 after torchvision's
Resize(round(size * 256 / 224)) and CenterCrop(size). Of 16-bit grey, which
Pillow cuts off at 255, the upper bytes are taken instead.

broken/: images that are not as they should be. broken.csv: what Pillow makes of
each after convert('RGB'): file, height, width and CRC-32 of the pixels; they are
0 where Pillow refuses it.

cuts.csv: the least number of bytes from the beginning of an image that Pillow
reads.

crops.csv: boxes of RandomResizedCrop, from the draws of crop.h, which are made
here again: seed, epoch, sample, height and width of the image, then top, left,
height and width of the box, and whether it is mirrored.
"""
import io
import math
import pathlib
import struct
import zlib

import numpy
from PIL import Image

HERE = pathlib.Path(__file__).parent
SIZES = 16, 7


def colours(height, width, channels=3, seed=1):
    """Smooth, with some noise."""
    y, x, c = numpy.mgrid[:height, :width, :channels]
    noise = numpy.random.RandomState(seed).randint(0, 40, y.shape)
    return ((128 + 80 * numpy.sin(x / 5 + c) + 60 * numpy.cos(y / 4 - c)
             ).clip(0, 215) + noise).astype(numpy.uint8)


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def png(pixels, depth, kind, interlaced=False):
    """What Pillow does not write; pixels are big-endian, [y][x][channel]."""
    def rows(part):
        return b"".join(b"\0" + row.tobytes() for row in part)
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4),
                  (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    data = b"".join(rows(pixels[top::down, left::right])
                    for top, left, down, right in passes)
    height, width = pixels.shape[:2]
    header = struct.pack(">2I5B", width, height, depth, kind, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def make_images():
    rgb = Image.fromarray(colours(23, 31))
    tall = Image.fromarray(colours(41, 18, seed=2))
    grey = Image.fromarray(colours(17, 19, 1)[:, :, 0])
    few = tall.quantize(11)
    rgb.save(HERE / "rgb.png")
    grey.save(HERE / "grey.png")
    grey.point(lambda v: v > 120, "1").save(HERE / "bits.png")
    few.save(HERE / "palette.png", bits=4)
    few.save(HERE / "palette-clear.png", transparency=3)
    Image.fromarray(colours(9, 70, 4)).save(HERE / "rgba.png")
    Image.fromarray(colours(12, 11, 2), "LA").save(HERE / "grey-alpha.png")
    (HERE / "interlaced.png").write_bytes(png(colours(13, 22), 8, 2, True))
    deep = colours(8, 9).astype(">u2") * 257 ^ 0x55
    (HERE / "deep.png").write_bytes(png(deep, 16, 2))
    (HERE / "deep-grey.png").write_bytes(png(deep[:, :, :1], 16, 0))
    rgb.save(HERE / "halved.jpg", quality=85)
    tall.save(HERE / "progressive.jpg", quality=90, subsampling=0,
              progressive=True)
    grey.save(HERE / "grey.jpg", quality=75)
    rgb.convert("CMYK").save(HERE / "cmyk.jpg", quality=90)
    # As cameras on their side do: nobody turns it.
    exif = Image.Exif()
    exif[0x112] = 6
    tall.save(HERE / "turned.jpg", exif=exif)


def parts(data):
    """[kind, its data and sum] of the chunks of a PNG."""
    at, chunks = 8, []
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        chunks.append((data[at + 4:at + 8], data[at + 8:at + 12 + length]))
        at += 12 + length
    return chunks


def spoil(data, kind, place):
    """One bit, this many bytes from the end of a chunk and its sum."""
    out = data[:8]
    for name, rest in parts(data):
        if name == kind:
            rest = bytearray(rest)
            rest[-place] ^= 1
        out += struct.pack(">I", len(rest) - 4) + name + rest
    return out


def make_broken():
    """By name; the sum of a chunk is its last four bytes."""
    plain = png(colours(6, 9), 8, 2)
    end = plain.index(b"IEND") - 4
    text = chunk(b"tEXt", b"Title\0text")
    yield "sum-of-header.png", spoil(plain, b"IHDR", 1)
    yield "sum-of-pixels.png", spoil(plain, b"IDAT", 1)
    yield "adler.png", spoil(plain, b"IDAT", 5)
    yield "sum-of-text.png", spoil(plain[:33] + text + plain[33:], b"tEXt", 1)
    yield "sum-of-text-later.png", spoil(plain[:end] + text + plain[end:],
                                         b"tEXt", 1)
    yield "no-end.png", plain[:end]
    yield "other-end.png", plain[:end] + bytes(40)
    yield "cut-text.png", plain[:end] + text[:-6]
    yield "cut-pixels-later.png", plain[:end] + chunk(b"IDAT", b"1234")[:10]
    yield "more-pixels.png", plain[:end] + chunk(b"IDAT", b"12") + plain[end:]
    # Rows repeat at a distance that a window of 256 bytes does not reach.
    row = numpy.random.RandomState(3).randint(0, 256, (1, 100, 3))
    wide = png(row.astype(numpy.uint8).repeat(3, 0), 8, 2)
    header, at = wide[:33], wide.index(b"IDAT") + 4
    size, = struct.unpack(">I", wide[33:37])
    yield "window.png", header + chunk(
        b"IDAT", b"\x08\x1d" + wide[at + 2:at + size]) + chunk(b"IEND", b"")
    # Of 16 colours, three are there.
    few = png(numpy.arange(4, dtype=numpy.uint8)[:, None].repeat(3, 1) * 0x51,
              4, 3)
    few = few[:16] + struct.pack(">I", 6) + few[20:29]
    few += struct.pack(">I", zlib.crc32(few[12:29]))
    yield "few-colours.png", few + chunk(b"PLTE", bytes(range(100, 109))) + (
        chunk(b"IDAT", zlib.compress(bytes((0, 0x01, 0x23, 0x4f) * 4))) +
        chunk(b"IEND", b""))
    photo = io.BytesIO()
    Image.fromarray(colours(16, 16)).save(photo, "JPEG", quality=75)
    photo = photo.getvalue()[:-2]
    yield "no-end.jpg", photo
    yield "other-end.jpg", photo + bytes(20)
    photo = io.BytesIO()
    Image.fromarray(colours(16, 16)).save(photo, "JPEG", quality=75,
                                          progressive=True)
    yield "other-end-progressive.jpg", photo.getvalue()[:-2] + bytes(20)


def convert(path, mode):
    image = Image.open(path)
    if image.mode.startswith("I"):
        image = Image.fromarray((numpy.asarray(image) >> 8
                                 ).astype(numpy.uint8))
    return image.convert(mode)


def cut(image, size):
    shorter = round(size * 256 / 224)
    width, height = image.size
    if width <= height:
        to = shorter, int(shorter * height / width)
    else:
        to = int(shorter * width / height), shorter
    image = image.resize(to, Image.Resampling.BILINEAR)
    left = int(round((to[0] - size) / 2.0))
    top = int(round((to[1] - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def checksum(image):
    return zlib.crc32(numpy.ascontiguousarray(numpy.asarray(image)))


def describe():
    yield "file,channels,height,width,crc32,size,cut_crc32"
    for path in sorted(HERE.glob("*.png")) + sorted(HERE.glob("*.jpg")):
        for channels, mode in (1, "L"), (3, "RGB"):
            for size in SIZES:
                image = convert(path, mode)
                yield "%s,%d,%d,%d,%08x,%d,%08x" % (
                    path.name, channels, image.height, image.width,
                    checksum(image), size, checksum(cut(image, size)))


def read(data):
    """(height, width, sum of the pixels)."""
    try:
        image = Image.open(io.BytesIO(data)).convert("RGB")
    except (OSError, SyntaxError):
        return 0, 0, 0
    return image.height, image.width, checksum(image)


def describe_broken():
    yield "file,height,width,crc32"
    for name, data in make_broken():
        (HERE / "broken" / name).write_bytes(data)
        yield "%s,%d,%d,%08x" % (name, *read(data))


def make_cuts():
    yield "file,bytes"
    for name in ("rgb.png", "bits.png", "interlaced.png", "palette-clear.png",
                 "halved.jpg", "progressive.jpg", "cmyk.jpg"):
        data = (HERE / name).read_bytes()
        found = [read(data[:count]) for count in range(len(data) + 1)]
        least = found.index(found[-1])
        assert set(found[least:]) == {found[-1]}
        assert set(found[:least]) == {(0, 0, 0)}
        yield f"{name},{least}"


def philox(counter, key):
    """Philox4x32-10."""
    low = 0xffffffff
    for _ in range(10):
        a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = (b >> 32 ^ counter[1] ^ key[0], b & low,
                   a >> 32 ^ counter[3] ^ key[1], a & low)
        key = (key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low
    return counter


def draw(seed, epoch, sample, height, width):
    def words(block):
        return philox((block, sample, epoch, 0xffffffff),
                      (seed & 0xffffffff, seed >> 32))
    flip = words(10)[0] < 1 << 31
    ratios = 3 / 4, 4 / 3
    for block in range(10):
        area, ratio, top, left = words(block)
        area = height * width * (.08 + .92 * area / 2 ** 32)
        ratio = math.exp(math.log(ratios[0]) + ratio / 2 ** 32 *
                         (math.log(ratios[1]) - math.log(ratios[0])))
        w = int(round(math.sqrt(area * ratio)))
        h = int(round(math.sqrt(area / ratio)))
        if 0 < w <= width and 0 < h <= height:
            return (top * (height - h + 1) >> 32,
                    left * (width - w + 1) >> 32, h, w, flip)
    w, h = width, height
    if width / height < min(ratios):
        h = int(round(w / min(ratios)))
    elif width / height > max(ratios):
        w = int(round(h * max(ratios)))
    return (height - h) // 2, (width - w) // 2, h, w, flip


def make_crops():
    yield "seed,epoch,sample,height,width,top,left,box_height,box_width,flip"
    for sample in range(60):
        seed = (1, 1 << 32 | 5, 77)[sample % 3]
        height, width = ((375, 500), (29, 31), (1, 1), (640, 480), (100, 700),
                         (900, 50))[sample % 6]
        values = seed, sample // 7, sample * 1009, height, width
        yield ",".join("%d" % value for value in values + draw(*values))


if __name__ == "__main__":
    make_images()
    (HERE / "broken").mkdir(exist_ok=True)
    (HERE / "broken.csv").write_text("\n".join(describe_broken()) + "\n")
    (HERE / "cuts.csv").write_text("\n".join(make_cuts()) + "\n")
    (HERE / "images.csv").write_text("\n".join(describe()) + "\n")
    (HERE / "crops.csv").write_text("\n".join(make_crops()) + "\n")
