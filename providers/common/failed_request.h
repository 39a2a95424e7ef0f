/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failed_request.h - what the log says of a request that completed with an error: the request, its
 * buffers, the syndrome, the likely cause and the cure. A provider reads the request from its ring.
 */
#ifndef PROVIDERS_COMMON_FAILED_REQUEST_H
#define PROVIDERS_COMMON_FAILED_REQUEST_H

#include "libibverbs/driver.h"
#include "providers/common/syndrome.h"

#define PROVIDER_FAILED void __attribute__((cold))

struct failed_request {
	enum request_kind kind;
	bool is_send, has_target, has_buffer;
	uint64_t raddr;
	uint32_t rkey, lkey;
	uint64_t wr_id;
	size_t length; /* of the text */
	char text[160];
};

/* These write the request's text: its operation first, then what the operation has. */
PROVIDER_FAILED provider_failed_name(struct failed_request *f, const char *operation);
PROVIDER_FAILED provider_failed_name_target(struct failed_request *f, uint64_t raddr,
					    uint32_t rkey);
PROVIDER_FAILED provider_failed_name_buffer(struct failed_request *f, uint64_t addr, uint32_t bytes,
					    uint32_t lkey);
PROVIDER_FAILED provider_failed_name_inline(struct failed_request *f, uint32_t bytes);

/* Writes to WHY what looks wrong in the request itself, or else the usual cure for its kind, or
 * nothing. The text begins with a semicolon. */
PROVIDER_FAILED provider_failed_cure(const struct failed_request *f, uint8_t syndrome, char *why,
				     size_t size);

/* Logs the failure. OWNER and NUMBER are of the queue. */
PROVIDER_FAILED provider_failed_report(const struct failed_request *f, const char *owner,
				       uint32_t number, uint8_t syndrome, uint8_t vendor,
				       const char *cure);

#endif
