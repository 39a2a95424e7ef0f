/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rwq_table.c - indirection tables of WQs.
 */
#include "providers/common/rwq_table.h"

#include <errno.h>
#include <stdlib.h>

#include "util/alloc.h"

/* Common to struct mlx4_ib_create_rwq_ind_tbl_resp and struct mlx5_ib_create_rwq_ind_tbl_resp. */
struct table_resp {
	uint32_t response_length, reserved;
};

struct ibv_rwq_ind_table *provider_rwq_table_create(struct ibv_context *context,
						    struct ibv_rwq_ind_table_init_attr *attr)
{
	struct table_resp resp;
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	struct ibv_rwq_ind_table *table = calloc_for("create_rwq_ind_table", 1, sizeof(*table));
	int ret = table ? verbs_cmd_create_rwq_ind_table(context, attr, table, &udata) : ENOMEM;

	if (!ret)
		return table;
	free(table);
	errno = ret;
	return NULL;
}

int provider_rwq_table_destroy(struct ibv_rwq_ind_table *table)
{
	int ret = verbs_cmd_destroy_rwq_ind_table(table);

	if (!ret)
		free(table);
	return ret;
}
