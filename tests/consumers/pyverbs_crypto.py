#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pyverbs_crypto.py DETAILS SECRETS - what the tests of encryption want to be told, as JSON in DETAILS, and the same secrets as
# `softhca --crypto` takes them in SECRETS. The program openssl wraps and encrypts: block by block, as it has no XTS.
import json
import struct
import subprocess
import sys

KEK = bytes(range(0x10, 0x20))
CREDENTIAL = bytes(range(0x40, 0x68))
KEYS = {128: bytes(range(1, 33)), 256: bytes(range(1, 65))}


def openssl(cipher, key, data, *options):
    command = ['openssl', 'enc', '-e', '-' + cipher, '-K', key.hex(), '-nopad', *options]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def wrap(key):
    return openssl('id-aes128-wrap', KEK, key, '-iv', 'A6' * 8)


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def aes(key, data):
    return openssl(f'aes-{8 * len(key)}-ecb', key, data)


# IEEE 1619, 5.3: each block has the tweak's ciphertext, times a power of x.
def masks(key, tweak, count):
    mask = int.from_bytes(aes(key, tweak.to_bytes(16, 'little')), 'little')
    for _ in range(count):
        yield mask.to_bytes(16, 'little')
        mask = mask << 1 ^ (0x87 if mask >> 127 else 0)
        mask &= (1 << 128) - 1


def xts(keys, tweak, data):
    half = len(keys) // 2
    mask = b''.join(masks(keys[half:], tweak, len(data) // 16))
    return xor(aes(keys[:half], xor(data, mask)), mask)


def words(data, size='Q', order='!'):
    return list(struct.unpack(f'{order}{len(data) // struct.calcsize(order + size)}{size}', data))


def details():
    block = b'c' * 512
    first, second = (xts(KEYS[128], tweak, block) for tweak in range(2))
    return {
        'credential': words(wrap(CREDENTIAL)),
        'wrapped_key': words(wrap(KEYS[128])),
        'wrapped_256_bits_key': words(wrap(KEYS[256])),
        'plaintext_key': words(KEYS[128], 'I', '='),
        'plaintext_256_bits_key': words(KEYS[256], 'I', '='),
        'encrypted_data_for_512_c': words(first),
        'encrypted_data_for_1024_c': words(first + second),
    }


def main():
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        json.dump([details()], file)
    with open(sys.argv[2], 'w', encoding='ascii') as file:
        print(f'kek {KEK.hex()}\ncredential {CREDENTIAL.hex()}', file=file)


if __name__ == '__main__':
    main()
