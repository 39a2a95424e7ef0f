/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start.c - see start.h; README.md draws the states. PRM: Driver Start Up
 *
 * A step that fails ends the start: closing the device resets it, so nothing is undone here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "prm/mlx5/reg.h"
#include "providers/mlx5/vfio/start.h"
#include "util/alloc.h"
#include "util/bits.h"

enum {
	ISSI_1 = 1,
	READ = 1,
	REGISTER_SIZE = 16,
	DTOR_SIZE = 64,
	PORT = 1,
	QUERY_ISSI_OUT_SIZE = 112,
	VERSION_SIZE = 64
};

static int run_command(struct vfio_pages *pages, const void *in, uint32_t inlen, void *out,
		       uint32_t outlen)
{
	int ret = mlx5_vfio_cmdq_run(pages->cmdq, VFIO_LANE_COMMANDS, in, inlen, out, outlen, NULL);

	if (ret)
		verbs_warn("VFIO: command %#x of the start: %s",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE), strerror(ret));
	return ret;
}

/* Runs a command that the device may refuse: any answer counts as success. */
static int run_optional(struct vfio_pages *pages, const void *in, uint32_t inlen, void *out,
			uint32_t outlen)
{
	bool is_answered;
	int ret = mlx5_vfio_cmdq_run(pages->cmdq, VFIO_LANE_COMMANDS, in, inlen, out, outlen,
				     &is_answered);

	return is_answered ? 0 : ret;
}

static int run_plain(struct vfio_pages *pages, enum prm_opcode opcode)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, opcode);
	return run_command(pages, in, sizeof(in), out, sizeof(out));
}

/* Chooses version 1 of the command interface, because all fields of prm/ belong to it. */
static int choose_issi(struct vfio_pages *pages)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[QUERY_ISSI_OUT_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_ISSI);
	ret = run_command(pages, in, sizeof(in), out, sizeof(out));
	if (ret)
		return ret;
	if (!(fld_get(out, QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0) & 1u << ISSI_1)) {
		verbs_warn("ibv_open_device: firmware has no ISSI 1");
		return EOPNOTSUPP;
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_ISSI);
	fld_set(in, SET_ISSI_IN_CURRENT_ISSI, ISSI_1);
	return run_command(pages, in, sizeof(in), out, PRM_CMD_OUT_SIZE);
}

typedef int (*runner)(struct vfio_pages *, const void *, uint32_t, void *, uint32_t);

static int register_write(struct vfio_pages *pages, runner run, enum prm_register reg,
			  const uint8_t *data)
{
	uint8_t in[PRM_CMD_IN_SIZE + REGISTER_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE + REGISTER_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ACCESS_REG);
	fld_set(in, ACCESS_REGISTER_IN_REGISTER_ID, reg);
	memcpy(fld_at(in, ACCESS_REGISTER_IN_REGISTER_DATA), data, REGISTER_SIZE);
	return run(pages, in, sizeof(in), out, sizeof(out));
}

/* Writes the host's byte order to a register of the adapter. A virtual function has no access to
 * it, so a refusal is no error: the host's physical function has written the register. */
static int tell_endianness(struct vfio_pages *pages)
{
	static const uint8_t data[REGISTER_SIZE] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 0x80
											    : 0 };

	return register_write(pages, run_optional, PRM_REG_HOST_ENDIANNESS, data);
}

/* Learns the interval at which the health counter is to be looked at. Five intervals without a
 * change are too many. An adapter that refuses the register keeps the default. */
static int learn_timeouts(struct vfio_pages *pages)
{
	static const uint32_t unit_ms[] = { [PRM_TIMEOUT_MS] = 1,
					    [PRM_TIMEOUT_SECONDS] = 1000,
					    [PRM_TIMEOUT_MINUTES] = 60000,
					    [PRM_TIMEOUT_HOURS] = 3600000 };
	enum { INTERVALS = 5, LEAST_MS = 1000, MOST_MS = 60000 };
	uint8_t in[PRM_CMD_IN_SIZE + DTOR_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE + DTOR_SIZE] = { 0 };
	const uint8_t *dtor = fld_at(out, ACCESS_REGISTER_OUT_REGISTER_DATA);
	uint64_t ms;
	uint32_t unit;
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ACCESS_REG);
	fld_set(in, CMD_IN_OP_MOD, READ);
	fld_set(in, ACCESS_REGISTER_IN_REGISTER_ID, PRM_REG_DTOR);
	ret = run_optional(pages, in, sizeof(in), out, sizeof(out));
	if (ret || fld_get(out, CMD_OUT_STATUS))
		return ret;
	ms = fld_get(dtor, DTOR_REG_HEALTH_POLL_TO);
	unit = (uint32_t)fld_get(dtor, DTOR_REG_HEALTH_POLL_MULTIPLIER);
	if (!ms || unit >= ARRAY_SIZE(unit_ms))
		return 0;
	ms = min_of(ms * unit_ms[unit] * INTERVALS, (uint64_t)MOST_MS);
	pages->cmdq->health_ms = (unsigned int)max_of(ms, (uint64_t)LEAST_MS);
	return 0;
}

static int port_down(struct vfio_pages *pages)
{
	uint8_t data[REGISTER_SIZE] = { 0 };

	fld_set(data, PAOS_REG_LOCAL_PORT, PORT);
	fld_set(data, PAOS_REG_ADMIN_STATUS, PRM_PORT_DOWN);
	fld_set(data, PAOS_REG_ASE, 1);
	return register_write(pages, run_command, PRM_REG_PAOS, data);
}

/* Tells firmware the driver's name and version, which tools on the adapter's side show. */
static int tell_version(struct vfio_pages *pages)
{
	uint8_t in[PRM_CMD_IN_SIZE + VERSION_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	char *version = fld_at(in, SET_DRIVER_VERSION_IN_DRIVER_VERSION);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_DRIVER_VERSION);
	snprintf(version, VERSION_SIZE, "Linux,rdmakit-vfio,%s", RDMAKIT_VERSION);
	return run_optional(pages, in, sizeof(in), out, sizeof(out));
}

/* Sets the capabilities as they are, with two changes: UAR pages of 4 KiB, and mailboxes without
 * signatures. Sets *WANTS_VERSION if firmware accepts a driver version. */
static int set_caps(struct vfio_pages *pages, bool *wants_version)
{
	enum { CURRENT = 1, SIZE = PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE };
	uint8_t *in = calloc_for("ibv_open_device", 1, SIZE);
	uint8_t *out = calloc_for("ibv_open_device", 1, SIZE), *caps;
	int ret = in && out ? 0 : ENOMEM;

	if (!ret) {
		fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
		fld_set(in, CMD_IN_OP_MOD, PRM_CAP_GENERAL << 1 | CURRENT);
		ret = run_command(pages, in, PRM_CMD_IN_SIZE, out, SIZE);
	}
	if (!ret) {
		fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_HCA_CAP);
		fld_set(in, CMD_IN_OP_MOD, PRM_CAP_GENERAL << 1);
		caps = in + PRM_CMD_IN_SIZE;
		memcpy(caps, fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY), PRM_HCA_CAP_SIZE);
		*wants_version = fld_get(caps, HCA_CAP_DRIVER_VERSION);
		fld_set(caps, HCA_CAP_CMDIF_CHECKSUM, 0);
		fld_set(caps, HCA_CAP_LOG_UAR_PAGE_SZ, 0);
		ret = run_command(pages, in, SIZE, out, PRM_CMD_OUT_SIZE);
	}
	free(in);
	free(out);
	return ret;
}

int mlx5_vfio_start(struct vfio_pages *pages, bool link_down)
{
	int ret = run_plain(pages, PRM_OP_ENABLE_HCA);
	bool wants_version = false;

	if (!ret)
		ret = choose_issi(pages);
	if (!ret)
		ret = mlx5_vfio_pages_give_for(pages, PRM_PAGES_BOOT);
	if (!ret)
		ret = tell_endianness(pages);
	if (!ret)
		ret = learn_timeouts(pages);
	if (!ret)
		ret = set_caps(pages, &wants_version);
	if (!ret)
		ret = mlx5_vfio_pages_give_for(pages, PRM_PAGES_INIT);
	if (!ret)
		ret = run_plain(pages, PRM_OP_INIT_HCA);
	if (!ret && wants_version)
		ret = tell_version(pages);
	if (!ret && link_down)
		ret = port_down(pages);
	return ret;
}

void mlx5_vfio_stop(struct vfio_pages *pages)
{
	if (run_plain(pages, PRM_OP_TEARDOWN_HCA) || mlx5_vfio_pages_reclaim(pages))
		return; /* the close resets the adapter */
	run_plain(pages, PRM_OP_DISABLE_HCA);
}
