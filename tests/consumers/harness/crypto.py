# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tests of encryption have to know: pyverbs' as JSON, the same secrets as `softhca --crypto` takes them, and DPDK's vectors. The
program openssl wraps and encrypts: block by block, as it has no XTS.
"""
import json
import struct
import subprocess

KEK = bytes(range(0x10, 0x20))
CREDENTIAL = bytes(range(0x40, 0x68))
KEYS = {128: bytes(range(1, 33)), 256: bytes(range(1, 65))}


def openssl(cipher, key, data, *options):
    command = ["openssl", "enc", "-e", "-" + cipher, "-K", key.hex(), "-nopad", *options]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def wrap(key):
    return openssl("id-aes128-wrap", KEK, key, "-iv", "A6" * 8)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def aes(key, data):
    return openssl(f"aes-{8 * len(key)}-ecb", key, data)


# IEEE 1619, 5.3: each block has the tweak's ciphertext, times a power of x.
def masks(key, tweak, count):
    mask = int.from_bytes(aes(key, tweak.to_bytes(16, "little")), "little")
    for _ in range(count):
        yield mask.to_bytes(16, "little")
        mask = mask << 1 ^ (0x87 if mask >> 127 else 0)
        mask &= (1 << 128) - 1


def xts(keys, tweak, data):
    half = len(keys) // 2
    mask = b"".join(masks(keys[half:], tweak, len(data) // 16))
    return xor(aes(keys[:half], xor(data, mask)), mask)


def words(data, size="Q", order="!"):
    return list(struct.unpack(f"{order}{len(data) // struct.calcsize(order + size)}{size}", data))


def details():
    block = b"c" * 512
    first, second = (xts(KEYS[128], tweak, block) for tweak in range(2))
    return {
        "credential": words(wrap(CREDENTIAL)),
        "wrapped_key": words(wrap(KEYS[128])),
        "wrapped_256_bits_key": words(wrap(KEYS[256])),
        "plaintext_key": words(KEYS[128], "I", "="),
        "plaintext_256_bits_key": words(KEYS[256], "I", "="),
        "encrypted_data_for_512_c": words(first),
        "encrypted_data_for_1024_c": words(first + second),
    }


def write(details_path, secrets_path):
    """Writes both files."""
    details_path.write_text(json.dumps([details()]), encoding="ascii")
    secrets_path.write_text(f"kek {KEK.hex()}\ncredential {CREDENTIAL.hex()}\n", encoding="ascii")


def field(name, data):
    return f"{name} =\n" + ", ".join(f"0x{byte:02x}" for byte in data) + "\n"


def vector(key_size, unit):
    """A unit of bytes and what AES-XTS makes of them, for dpdk-test-crypto-perf --ptest verify."""
    keys, plain = bytes(range(1, key_size + 1)), bytes(i % 256 for i in range(unit))
    fields = (("plaintext", plain), ("cipher_key", keys), ("cipher_iv", bytes(16)), ("ciphertext", xts(keys, 0, plain)))
    return "\n".join(field(*pair) for pair in fields) + "\n"
