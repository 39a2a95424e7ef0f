/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * absent.c - direct verbs that are not implemented yet. Their symbols exist, so that programs which
 * need them load. Each call logs that it is missing and fails with EOPNOTSUPP, in its own way.
 *
 * This file does not include mlx5dv.h: the real prototypes do not matter to functions that read no
 * parameter.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/log.h"

#define ABSENT(type, name)                                      \
	__attribute__((visibility("default"))) type name(void); \
	__attribute__((visibility("default"))) type name(void)

static int not_yet(const char *name)
{
	verbs_warn("%s: not supported yet", name);
	errno = EOPNOTSUPP;
	return EOPNOTSUPP;
}

#define ABSENT_POINTER(name)    \
	ABSENT(void *, name)    \
	{                       \
		not_yet(#name); \
		return NULL;    \
	}

#define ABSENT_INT(name)               \
	ABSENT(int, name)              \
	{                              \
		return not_yet(#name); \
	}

/* clang-format off */
ABSENT_POINTER(mlx5dv_dr_action_create_dest_ib_port)
ABSENT_POINTER(mlx5dv_dr_action_create_dest_vport)

ABSENT_INT(mlx5dv_dr_aso_other_domain_link)
ABSENT_INT(mlx5dv_dr_aso_other_domain_unlink)
/* clang-format on */
