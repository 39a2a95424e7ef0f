# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""xts_vector.py KEY-SIZE UNIT: prints UNIT bytes and what AES-XTS makes of them, for dpdk-test-crypto-perf --ptest verify."""
import sys

from pyverbs_crypto import xts


def field(name, data):
    return f'{name} =\n' + ', '.join(f'0x{byte:02x}' for byte in data) + '\n'


keys = bytes(range(1, int(sys.argv[1]) + 1))
plain = bytes(i % 256 for i in range(int(sys.argv[2])))
print('\n'.join((field('plaintext', plain), field('cipher_key', keys), field('cipher_iv', bytes(16)),
                 field('ciphertext', xts(keys, 0, plain)))))
