/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign.c - adapters whose providers exist only in the distribution's packages.
 *
 * device.c uses the names to log which adapter is skipped, and why; without that, users would
 * search for the fault in cables and kernels. loader.c does not warn about missing plugins with
 * these names, because the distribution's packages configure all of them on every machine.
 */
#include "libibverbs/private.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "util/bits.h"

/* Names of the distribution's plugins, by kernel driver: "rxe" for librxe-rdmav34.so in Debian
 * 12. */
static const char *const providers[] = {
	[RDMA_DRIVER_CXGB4] = "cxgb4",     [RDMA_DRIVER_MTHCA] = "mthca",
	[RDMA_DRIVER_BNXT_RE] = "bnxt_re", [RDMA_DRIVER_OCRDMA] = "ocrdma",
	[RDMA_DRIVER_IRDMA] = "irdma",     [RDMA_DRIVER_VMW_PVRDMA] = "vmw_pvrdma",
	[RDMA_DRIVER_QEDR] = "qedr",       [RDMA_DRIVER_HNS] = "hns",
	[RDMA_DRIVER_RXE] = "rxe",         [RDMA_DRIVER_HFI1] = "hfi1verbs",
	[RDMA_DRIVER_QIB] = "ipathverbs",  [RDMA_DRIVER_EFA] = "efa",
	[RDMA_DRIVER_SIW] = "siw",         [RDMA_DRIVER_ERDMA] = "erdma",
	[RDMA_DRIVER_MANA] = "mana",       [RDMA_DRIVER_IONIC] = "ionic",
};

const char *verbs_foreign_provider(uint32_t driver_id)
{
	return driver_id < ARRAY_SIZE(providers) ? providers[driver_id] : NULL;
}

const char *verbs_foreign_plugin(uint32_t driver_id)
{
	if (driver_id == RDMA_DRIVER_MLX5)
		return "mlx5";
	return driver_id == RDMA_DRIVER_MLX4 ? "mlx4" : verbs_foreign_provider(driver_id);
}

bool verbs_foreign_has(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++)
		if (providers[i] && !strcmp(providers[i], name))
			return true;
	return false;
}

bool verbs_foreign_names(const char *name)
{
	return !strcmp(name, "mlx5") || !strcmp(name, "mlx4") || verbs_foreign_has(name);
}
