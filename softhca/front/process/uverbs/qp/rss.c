/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss.c - raw packet QPs that spread frames over a table of queues (RSS): fields to hash, and the
 * hash.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

#include "prm/mlx5/tir.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/objects.h"
#include "util/bits.h"

enum {
	IPV4 = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4,
	IPV6 = MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6,
	TCP = MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP,
	UDP = MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP,
	KNOWN_FIELDS = IPV4 | IPV6 | TCP | UDP,
	KNOWN_FLAGS = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC,
};

static const struct {
	uint32_t asked, device;
} field_table[] = {
	{ MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_SRC_IPV6, PRM_HASH_SRC_IP },
	{ MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_DST_IPV6, PRM_HASH_DST_IP },
	{ MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP, PRM_HASH_L4_SPORT },
	{ MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP, PRM_HASH_L4_DPORT },
};

static int check_fields(uint64_t mask, const struct uverbs_rwq_table *table)
{
	if (mask & ~(uint64_t)KNOWN_FIELDS)
		return EOPNOTSUPP; /* inner headers of tunnels, IPsec */
	if (!mask)
		return table->size == 1 ? 0 : EINVAL;
	if ((mask & IPV4 && mask & IPV6) || (mask & TCP && mask & UDP))
		return EINVAL;
	return 0;
}

static void read_hash(const struct mlx5_ib_create_qp_rss *driver, struct eth_hash *hash)
{
	uint64_t mask = driver->rx_hash_fields_mask;

	*hash = (struct eth_hash){
		.ipv4 = mask & IPV4, .ipv6 = mask & IPV6, .tcp = mask & TCP, .udp = mask & UDP
	};
	for (unsigned int i = 0; i < ARRAY_SIZE(field_table); i++)
		if (mask & field_table[i].asked)
			hash->fields |= field_table[i].device;
	memcpy(hash->key, driver->rx_hash_key, sizeof(hash->key));
}

int qp_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw)
{
	struct raw_request request = { .rqtn = table->rqtn };
	struct mlx5_ib_create_qp_rss driver;
	struct eth_hash hash;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver)))
		return EFAULT;
	if (driver.comp_mask)
		return EOPNOTSUPP;
	if (driver.flags & ~(uint32_t)KNOWN_FLAGS)
		return EINVAL;
	if (driver.rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ)
		return EOPNOTSUPP;
	if (driver.rx_key_len != sizeof(hash.key))
		return EINVAL;
	ret = check_fields(driver.rx_hash_fields_mask, table);
	if (ret)
		return ret;
	read_hash(&driver, &hash);
	request.hash = &hash;
	request.self_lb_block =
		(driver.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC ? PRM_BLOCK_UNICAST : 0) |
		(driver.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC ? PRM_BLOCK_MULTICAST : 0);
	return raw_qp_make(uc->adapter, &request, raw);
}
