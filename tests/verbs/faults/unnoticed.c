/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unnoticed.c - faults that need not be reported, with reasons: the libraries work without the
 * resource, or the call cannot return an error. A call must report any other fault.
 *
 * Covers: libibverbs/cmd/cmd_ioctl.c, softhca/fault.c
 */
#include "faults.h"

struct excuse {
	const char *reason;
	enum fault_kind kind;
	int most;
	const char *lives[24];
};

/* Lives with one QP, which shares a doorbell page if it gets none of its own. On mlx4 it queries
 * the port's capabilities; without an answer the QP computes no checksums. */
#define WITH_A_QP                                                                             \
	{                                                                                     \
		"copies", "counters", "dci", "domains", "early", "ece", "multicast", "rates", \
			"raw", "rc", "rc-ex", "scheduled-qp", "source-port", "srq", "tm-srq", \
			"uc", "uc-ex", "ud", "ud-ex", "xrc-recv", "xrc-send", "xrc-send-ex",  \
	}

static const struct excuse excuses[] = {
	{ "a QP shares a doorbell page, or computes no checksums", FAULT_KERNEL, 1, WITH_A_QP },
	{ "a QP computes no checksums: RoCE's port takes two commands", FAULT_ADAPTER, 2,
	  WITH_A_QP },
	{ "a freed page is given to nobody", FAULT_KERNEL, 1, { "doorbells", "pages" } },
	{ "a thread domain has no doorbell page of its own", FAULT_MEMORY, 1, { "domains" } },
	{ "a context without DevX is one, too", FAULT_KERNEL, 1, { "context" } },
	{ "the kernel takes no answer for a capability that is not there",
	  FAULT_ADAPTER,
	  4,
	  { "context" } },
	{ "a clock that is not mapped is not there", FAULT_MAP, 1, { "context" } },
	{ "the kernel takes no answer for an empty slot of a table",
	  FAULT_ADAPTER,
	  8,
	  { "queries" } },
	{ "beside the doorbell page: no promise of an order is made",
	  FAULT_KERNEL,
	  4,
	  { "laid-open" } },
	{ "beside the doorbell page: no promise of an order is made",
	  FAULT_ADAPTER,
	  4,
	  { "laid-open" } },
	{ "a clock that is not mapped is not there", FAULT_MAP, 1, { "laid-open" } },
};

int unnoticed_most(const char *life, enum fault_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(excuses); i++)
		for (size_t n = 0; excuses[i].kind == kind && n < ARRAY_SIZE(excuses[i].lives); n++)
			if (excuses[i].lives[n] && !strcmp(excuses[i].lives[n], life))
				return excuses[i].most;
	return 0;
}
