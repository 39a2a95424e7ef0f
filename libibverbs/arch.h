/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of 64-bit integers to and from network order, by the names from before <endian.h>.
 * They are kept so that old sources compile; new code uses htobe64() and be64toh(). There are no
 * barriers here: programs do not need any.
 */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <endian.h>
#include <stdint.h>

#warning "<infiniband/arch.h> is out of use; <endian.h> has htobe64() and be64toh()"

/* If the program defines ntohll as a macro, this header declares neither ntohll() nor htonll(). */
#ifndef ntohll
#undef htonll

__attribute__((deprecated)) static inline uint64_t htonll(uint64_t host)
{
	return htobe64(host);
}

__attribute__((deprecated)) static inline uint64_t ntohll(uint64_t network)
{
	return be64toh(network);
}

#define htonll htonll
#define ntohll ntohll
#endif

#endif
