/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syndrome.h - status and texts of the syndromes of error CQEs. All adapters have the same numbers.
 * PRM: CQE with error
 */
#ifndef PROVIDERS_COMMON_SYNDROME_H
#define PROVIDERS_COMMON_SYNDROME_H

#include <stdint.h>

#include <infiniband/verbs.h>

/* Kinds of requests. The causes of a syndrome differ by kind. */
enum request_kind {
	REQUEST_SEND,
	REQUEST_WRITE,
	REQUEST_WRITE_IMM,
	REQUEST_READ,
	REQUEST_ATOMIC,
	REQUEST_DATAGRAM,
	REQUEST_RECEIVE,
	REQUEST_DATAGRAM_RECEIVE,
	REQUEST_OTHER,
};

/* SYNDROME is one of the PRM, VENDOR the adapter's own detail. Neither function returns NULL. */
const char *provider_syndrome_str(uint8_t syndrome);
const char *provider_vendor_syndrome_str(uint8_t vendor);

enum ibv_wc_status provider_syndrome_status(uint8_t syndrome);
const char *provider_syndrome_cure(uint8_t syndrome, enum request_kind kind);

#endif
