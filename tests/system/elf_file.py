# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Changes 64-bit little-endian ELF files: renames symbols, renews build IDs, damages sections."""

import collections
import os
import shutil
import struct

Section = collections.namedtuple("Section", "name header offset size")

BUILD_ID = ".note.gnu.build-id"
BUILD_ID_AT = 16  # offset in the note, after its header and "GNU"


def sections(data):
    """Returns name -> Section; `header` is the offset of the section's header."""
    table, = struct.unpack_from("<Q", data, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    headers = [table + i * entry_size for i in range(count)]
    names_at, = struct.unpack_from("<Q", data, headers[names_index] + 24)
    found = {}
    for header in headers[1:]:
        name, = struct.unpack_from("<I", data, header)
        start = names_at + name
        text = bytes(data[start:data.index(b"\0", start)]).decode()
        offset, size = struct.unpack_from("<QQ", data, header + 24)
        found[text] = Section(text, header, offset, size)
    return found


def renew_build_id(data):
    """Gives the file a new random build ID, since a file with other contents is another file."""
    note = sections(data)[BUILD_ID]
    start, end = note.offset + BUILD_ID_AT, note.offset + note.size
    data[start:end] = os.urandom(end - start)


def build_id(path):
    with open(path, "rb") as file:
        data = file.read()
    note = sections(data)[BUILD_ID]
    return data[note.offset + BUILD_ID_AT:note.offset + note.size].hex()


def write_program(path, data):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)
    return path


def renamed_bytes(source, old, new):
    """Returns the file's bytes with every occurrence of a name replaced by one of the same length, and a new build ID."""
    if len(old) != len(new):
        raise ValueError(f"{old} and {new} differ in length")
    with open(source, "rb") as file:
        data = bytearray(file.read().replace(old.encode(), new.encode()))
    renew_build_id(data)
    return data


def renamed(source, target, old, new):
    return write_program(target, renamed_bytes(source, old, new))


DAMAGED = (
    ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_rnglists",
    ".symtab", ".strtab",
)


def damage(source, target, rng):
    """Writes a damaged copy that runs as before, because no damaged section is loaded. Returns a description of the damage."""
    with open(source, "rb") as file:
        data = bytearray(file.read())
    renew_build_id(data)
    found = sections(data)
    section = found[rng.choice([name for name in DAMAGED if name in found])]
    kind = rng.choice(("bits", "bits", "noise", "zeros", "ones", "header"))
    if kind == "header":
        # The section's offset and size.
        struct.pack_into("<QQ", data, section.header + 24, rng.getrandbits(64), rng.getrandbits(rng.choice((24, 64))))
    elif kind == "bits":
        for _ in range(rng.randrange(1, 1 + max(1, section.size // 20))):
            data[section.offset + rng.randrange(section.size)] ^= 1 << rng.randrange(8)
    else:
        start = section.offset + rng.randrange(section.size)
        length = min(rng.randrange(1, 2000), section.offset + section.size - start)
        fill = {"noise": rng.randbytes, "zeros": bytes, "ones": lambda n: b"\xff" * n}[kind]
        data[start:start + length] = fill(length)
    write_program(target, data)
    return f"{section.name} {kind}"


def copy_program(source, target):
    shutil.copy(source, target)
    return target
