/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver_objects.c - objects of the driver itself: a PD, a UAR, a CQ, an XRC domain and an SRQ in
 * it.
 *
 * They are never used for data, but CQ and SRQ need a ring and a doorbell record, which are in a
 * page of this process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/srqc.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/driver_objects.h"

enum { PAGE = 4096, CQ_RING = 0, CQ_RECORD = 1024, SRQ_RING = 2048, SRQ_RECORD = 3072 };
enum { LOG_SRQ_WQES = 1, LOG_SRQ_STRIDE = 1 /* 32 bytes */, PAGE_PARTS = 64 };

struct driver_memory {
	struct driver_objects objects;
	struct client *self;
	uint8_t *page;
};

static uint64_t bus_addr(const struct driver_memory *memory, unsigned int offset)
{
	return client_bus_addr(memory->self, (uintptr_t)memory->page + offset);
}

static int create_cq(struct adapter *adapter, struct driver_memory *memory)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE + 8] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *cqc = fld_at(in, CREATE_CQ_IN_CQC);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	fld_set(cqc, CQC_UAR_PAGE, memory->objects.uar);
	fld_set(cqc, CQC_C_EQN, adapter->comp_eqn[0]);
	fld_set(cqc, CQC_DBR_ADDR, bus_addr(memory, CQ_RECORD));
	fld_set64(in, FLD_BYTE(CREATE_CQ_IN_PAS), bus_addr(memory, CQ_RING));
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		memory->objects.cqn = fld_get(out, CREATE_CQ_OUT_CQN);
	return ret;
}

static int create_srq(struct adapter *adapter, struct driver_memory *memory)
{
	uint8_t in[PRM_CREATE_XRC_SRQ_IN_SIZE + 8] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *context = fld_at(in, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_XRC_SRQ);
	fld_set(context, XRC_SRQC_LOG_XRC_SRQ_SIZE, LOG_SRQ_WQES);
	fld_set(context, XRC_SRQC_LOG_RQ_STRIDE, LOG_SRQ_STRIDE);
	fld_set(context, XRC_SRQC_PAGE_OFFSET, SRQ_RING / (PAGE / PAGE_PARTS));
	fld_set(context, XRC_SRQC_XRCD, memory->objects.xrcdn);
	fld_set(context, XRC_SRQC_CQN, memory->objects.cqn);
	fld_set(context, XRC_SRQC_PD, memory->objects.pdn);
	fld_set(context, XRC_SRQC_DBR_ADDR, bus_addr(memory, SRQ_RECORD));
	fld_set64(in, FLD_BYTE(CREATE_SRQ_IN_PAS), bus_addr(memory, 0));
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		memory->objects.srqn = fld_get(out, CREATE_SRQ_OUT_SRQN);
	return ret;
}

static int create_objects(struct adapter *adapter, struct driver_memory *memory)
{
	struct driver_objects *objects = &memory->objects;
	int ret = adapter_allocate(adapter, PRM_OP_ALLOC_PD, &objects->pdn);

	if (!ret)
		ret = adapter_allocate(adapter, PRM_OP_ALLOC_UAR, &objects->uar);
	if (!ret)
		ret = create_cq(adapter, memory);
	if (!ret)
		ret = adapter_allocate(adapter, (enum prm_opcode)PRM_OP_ALLOC_XRCD,
				       &objects->xrcdn);
	if (!ret)
		ret = create_srq(adapter, memory);
	return ret;
}

static int create_memory(struct adapter *adapter)
{
	struct driver_memory *memory = calloc(1, sizeof(*memory));
	int ret;

	if (!memory)
		return ENOMEM;
	memory->page = aligned_alloc(PAGE, PAGE);
	ret = memory->page ? client_get(getpid(), &memory->self) : ENOMEM;
	if (ret)
		goto free_page;
	memset(memory->page, 0, PAGE);
	memset(memory->page + CQ_RING, 0xff, CQ_RECORD); /* all ones, so that no CQE is valid */
	ret = create_objects(adapter, memory);
	if (ret)
		goto put_self;
	adapter->driver_memory = memory;
	return 0;
put_self:
	client_put(memory->self);
free_page:
	free(memory->page);
	free(memory);
	return ret;
}

int driver_objects_get(struct adapter *adapter, struct driver_objects *objects)
{
	uint16_t user = adapter->user;
	int ret;

	adapter->user = 0;
	ret = adapter->driver_memory ? 0 : create_memory(adapter);
	adapter->user = user;
	if (!ret)
		*objects = adapter->driver_memory->objects;
	return ret;
}

void driver_objects_free(struct adapter *adapter)
{
	struct driver_memory *memory = adapter->driver_memory;

	if (!memory)
		return;
	client_put(memory->self);
	free(memory->page);
	free(memory);
}
