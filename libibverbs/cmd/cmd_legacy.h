/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_legacy.h - the write() form of commands, for kernels without the method.
 */
#ifndef LIBIBVERBS_CMD_LEGACY_H
#define LIBIBVERBS_CMD_LEGACY_H

#include "libibverbs/driver.h"

struct cmd_call {
	struct ibv_context *context;
	const struct verbs_attr *attrs;
	unsigned int nattrs;
	const struct verbs_udata *udata;
};

struct cmd_legacy {
	uint16_t object, method;
	uint32_t bit; /* set in verbs_ex_private.legacy on a kernel that lacks the method */
	int (*run)(const struct cmd_call *call);
};

const struct cmd_legacy *verbs_cmd_legacy_find(uint16_t object, uint16_t method);

#endif
