# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""xts_vector.py: prints a block of 512 bytes and what AES-XTS makes of it, for dpdk-test-crypto-perf --ptest verify."""
from pyverbs_crypto import xts

KEYS = bytes(range(1, 33))
PLAIN = bytes(i % 256 for i in range(512))


def field(name, data):
    return f'{name} =\n' + ', '.join(f'0x{byte:02x}' for byte in data) + '\n'


print('\n'.join((field('plaintext', PLAIN), field('cipher_key', KEYS), field('cipher_iv', bytes(16)),
                 field('ciphertext', xts(KEYS, 0, PLAIN)))))
