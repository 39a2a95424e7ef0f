/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 64-bit byte order by the names that programs used before <endian.h> had them. They are kept so
 * that old sources compile; new ones take htobe64() and be64toh(). Barriers are not here: a program
 * has none to issue.
 */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <endian.h>
#include <stdint.h>

#warning "<infiniband/arch.h> is out of use; <endian.h> has htobe64() and be64toh()"

/* A program may bring its own ntohll as a macro; then both stay its own. */
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
