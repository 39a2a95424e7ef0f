/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reg.c - the ACCESS_REG command: port and host registers, one function each.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/reg.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/reg.h"
#include "util/bits.h"

enum { OP_WRITE = 0, OP_READ = 1 };

/* Handles one access: DATA is the register that software wrote, and becomes the one that it reads.
 * Returns NULL or the reason for refusing it. */
typedef const char *(*reg_fn)(struct hca *hca, bool write, uint8_t *data);

/* Checks the port number, as all port registers have it in the same place. Returns NULL or the
 * reason for refusing it. */
static const char *port_error(const struct hca *hca, bool write, uint64_t port)
{
	if (write)
		return "reg: port registers are read-only";
	return port < 1 || port > hca->config.num_ports ? "reg: no such port" : NULL;
}

static const char *ib_reg_pmtu(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	enum { MAX_MTU = 4096 };

	fld_set(data, PMTU_REG_MAX_MTU, MAX_MTU);
	fld_set(data, PMTU_REG_ADMIN_MTU, MAX_MTU);
	fld_set(data, PMTU_REG_OPER_MTU, MAX_MTU);
	return port_error(hca, write, port);
}

/* Widths 1x, 2x, 4x; speeds SDR to EDR. The link uses the best of each. */
static const char *ib_reg_ptys(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	enum { MASK_IB = 1, WIDTHS = 0x7, WIDTH_4X = 0x4, SPEEDS = 0x3f, SPEED_EDR = 0x20 };

	if (fld_get(data, PTYS_REG_PROTO_MASK) != MASK_IB)
		return "reg: PTYS of InfiniBand only";
	fld_set(data, PTYS_REG_IB_LINK_WIDTH_CAPABILITY, WIDTHS);
	fld_set(data, PTYS_REG_IB_PROTO_CAPABILITY, SPEEDS);
	fld_set(data, PTYS_REG_IB_LINK_WIDTH_OPER, WIDTH_4X);
	fld_set(data, PTYS_REG_IB_PROTO_OPER, SPEED_EDR);
	return port_error(hca, write, port);
}

typedef const char *(*port_reg_fn)(struct hca *hca, bool write, unsigned int port, uint8_t *data);

static const char *by_link(struct hca *hca, bool write, uint8_t *data, port_reg_fn infiniband,
			   port_reg_fn ethernet)
{
	port_reg_fn access = hca->config.link_layer == HCA_LINK_ETHERNET ? ethernet : infiniband;
	uint64_t port = fld_get(data, PMTU_REG_LOCAL_PORT);
	const char *why = port_error(hca, false, port);

	if (!why && !access)
		why = "reg: not of this link layer";
	return why ? why : access(hca, write, port, data);
}

static const char *reg_pmtu(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, ib_reg_pmtu, eth_reg_pmtu);
}

static const char *reg_ptys(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, ib_reg_ptys, eth_reg_ptys);
}

static const char *reg_paos(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, port_reg_paos, port_reg_paos);
}

static const char *reg_pmlp(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, NULL, eth_reg_pmlp);
}

static const char *reg_pfcc(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, NULL, eth_reg_pfcc);
}

static const char *reg_ppcnt(struct hca *hca, bool write, uint8_t *data)
{
	return by_link(hca, write, data, port_reg_ppcnt, port_reg_ppcnt);
}

static const char *reg_pvlc(struct hca *hca, bool write, uint8_t *data)
{
	enum { VL0 = 1 };

	fld_set(data, PVLC_REG_VL_HW_CAP, VL0);
	fld_set(data, PVLC_REG_VL_OPERATIONAL, VL0);
	return port_error(hca, write, fld_get(data, PVLC_REG_LOCAL_PORT));
}

static const char *reg_node_desc(struct hca *hca, bool write, uint8_t *data)
{
	static const char text[64] = "softhca";

	(void)hca;
	if (write)
		return "reg: the node description is fixed";
	memcpy(data, text, sizeof(text));
	return NULL;
}

/* Takes the host's byte order. Only big-endian structures with little-endian data are supported, as
 * hosts of softhca are little-endian. */
static const char *reg_host_endianness(struct hca *hca, bool write, uint8_t *data)
{
	(void)hca;
	return write && data[0] & 0x80 ? "reg: big-endian hosts" : NULL;
}

/* Reports timeouts for drivers. Nothing takes this adapter as long. */
static const char *reg_dtor(struct hca *hca, bool write, uint8_t *data)
{
	static const struct {
		uint32_t field, ms;
	} timeouts[] = {
		{ DTOR_REG_PCIE_TOGGLE_TO, 2000 },   { DTOR_REG_HEALTH_POLL_TO, 2000 },
		{ DTOR_REG_FULL_CRDUMP_TO, 60000 },  { DTOR_REG_FW_RESET_TO, 60000 },
		{ DTOR_REG_FLUSH_ON_ERR_TO, 2000 },  { DTOR_REG_PCI_SYNC_UPDATE_TO, 5000 },
		{ DTOR_REG_TEAR_DOWN_TO, 3000 },     { DTOR_REG_FSM_REACTIVATE_TO, 5000 },
		{ DTOR_REG_RECLAIM_PAGES_TO, 5000 }, { DTOR_REG_RECLAIM_VFS_PAGES_TO, 120000 },
	};

	(void)hca;
	if (write)
		return "reg: timeouts are read-only";
	for (size_t i = 0; i < ARRAY_SIZE(timeouts); i++)
		fld_set(data, timeouts[i].field, timeouts[i].ms);
	return NULL;
}

static const struct {
	uint16_t id;
	uint16_t size;
	reg_fn access;
} registers[] = {
	{ PRM_REG_PMTU, 16, reg_pmtu },
	{ PRM_REG_PTYS, 64, reg_ptys },
	{ PRM_REG_PVLC, 16, reg_pvlc },
	{ PRM_REG_PAOS, 16, reg_paos },
	{ PRM_REG_PMLP, 64, reg_pmlp },
	{ PRM_REG_PFCC, 32, reg_pfcc },
	{ PRM_REG_PPCNT, PRM_PPCNT_REG_SIZE, reg_ppcnt },
	{ PRM_REG_NODE_DESC, 64, reg_node_desc },
	{ PRM_REG_HOST_ENDIANNESS, 16, reg_host_endianness },
	{ PRM_REG_DTOR, 64, reg_dtor },
};

static enum prm_status access_one(struct hca *hca, struct cmd *cmd, size_t i)
{
	uint64_t op = fld_get(cmd->in, CMD_IN_OP_MOD);
	size_t at = FLD_BYTE(ACCESS_REGISTER_IN_REGISTER_DATA);
	uint8_t *data = fld_at(cmd->out, ACCESS_REGISTER_OUT_REGISTER_DATA);
	const char *why;

	if (op != OP_READ && op != OP_WRITE)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "reg: unknown op_mod");
	if (cmd->in_len < at + registers[i].size)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR, "reg: shorter than the register");
	memcpy(data, fld_at(cmd->in, ACCESS_REGISTER_IN_REGISTER_DATA), registers[i].size);
	why = registers[i].access(hca, op == OP_WRITE, data);
	return why ? cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why) : PRM_STAT_OK;
}

enum prm_status reg_access(struct hca *hca, struct cmd *cmd)
{
	uint64_t id = fld_get(cmd->in, ACCESS_REGISTER_IN_REGISTER_ID);

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (registers[i].id == id)
			return access_one(hca, cmd, i);
	return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "reg: no such register");
}
