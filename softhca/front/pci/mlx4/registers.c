/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registers.c - see registers.h. Sources: prm/mlx4/cmd.h, prm/mlx4/uar.h.
 *
 * Writing the word with the GO bit starts a command. The bit reads 1 until the command has run,
 * between two of the client's messages. Unknown registers read as 0.
 */
#include <endian.h>
#include <string.h>

#include "prm/mlx4/uar.h"
#include "prm/mlx4/wqe.h"
#include "softhca/fault.h"
#include "softhca/front/pci/mlx4/registers.h"
#include "softhca/device/hca.h"
#include "softhca/log.h"

enum {
	UAR_PAGES = 2048, /* as in the capabilities; as many BlueFlame pages follow */
	BF_BUFFER = 256,
	LAST_WORD = M4_HCR_SIZE - 4,
};

void registers_reset(struct registers *registers, bool keep_owner)
{
	struct registers fresh = {
		.hca = registers->hca,
		.fault = registers->fault,
		.owned = keep_owner && registers->owned,
	};

	*registers = fresh;
}

/* Returns the flag and sets it: a reader that gets 0 now owns it. */
static uint32_t flag_take(bool *taken)
{
	uint32_t was = *taken;

	*taken = true;
	return htobe32(was);
}

static bool is_error_buffer(uint64_t offset)
{
	return offset >= HCA_ERROR_BUFFER && offset < HCA_ERROR_BUFFER + HCA_ERROR_WORDS * 4;
}

uint32_t registers_read(struct registers *registers, uint64_t offset)
{
	uint32_t be;

	if (offset >= M4_HCR && offset < M4_HCR + M4_HCR_SIZE) {
		memcpy(&be, registers->hcr + (offset - M4_HCR), sizeof(be));
		return be;
	}
	if (offset == M4_OWNER)
		return flag_take(&registers->owned);
	if (offset == M4_SEMAPHORE)
		return flag_take(&registers->locked);
	return is_error_buffer(offset) && registers->error ? htobe32(1) : 0;
}

static void write_hcr(struct registers *registers, uint32_t at, uint32_t value_be)
{
	if (registers->pending) {
		log_note("mlx4: the register of commands is written while it has one");
		return;
	}
	memcpy(registers->hcr + at, &value_be, sizeof(value_be));
	registers->pending = at == LAST_WORD && fld_get(registers->hcr, M4_HCR_GO);
}

bool registers_write(struct registers *registers, uint64_t offset, uint32_t value_be)
{
	if (offset >= M4_HCR && offset < M4_HCR + M4_HCR_SIZE)
		write_hcr(registers, (uint32_t)(offset - M4_HCR), value_be);
	else if (offset == M4_OWNER && !value_be)
		registers->owned = false;
	return offset == M4_RESET && be32toh(value_be) == M4_RESET_VALUE;
}

static struct hca_order order_read(const uint8_t *hcr)
{
	return (struct hca_order){
		.opcode = fld_get(hcr, M4_HCR_OPCODE),
		.token = fld_get(hcr, M4_HCR_TOKEN),
		.modifier = fld_get(hcr, M4_HCR_OP_MODIFIER),
		.event = fld_get(hcr, M4_HCR_EVENT),
		.in_modifier = fld_get(hcr, M4_HCR_IN_MODIFIER),
		.in = fld_get64(hcr, FLD_BYTE(M4_HCR_IN_PARAM)),
		.out = fld_get64(hcr, FLD_BYTE(M4_HCR_OUT_PARAM)),
	};
}

void registers_run(struct registers *registers)
{
	struct hca_order order;
	uint8_t status;

	if (!registers->pending)
		return;
	order = order_read(registers->hcr);
	if (fault_lose_command(registers->fault)) {
		log_note("command 0x%x: lost by a fault", order.opcode);
		registers->pending = false;
		return;
	}
	status = hca_execute(registers->hca, &order);
	fld_set64(registers->hcr, FLD_BYTE(M4_HCR_OUT_PARAM), order.out);
	fld_set(registers->hcr, M4_HCR_STATUS, status);
	fld_set(registers->hcr, M4_HCR_GO, 0);
	registers->pending = false;
}

static void page_ring(struct registers *registers, uint64_t offset, const uint8_t *data,
		      uint32_t len)
{
	hca_uar_write(registers->hca, offset / M4_UAR_PAGE, offset % M4_UAR_PAGE, data, len);
}

/* Takes one half of a CQ doorbell, and rings the doorbell when the second half has come. */
static void ring_half(struct registers *registers, uint64_t offset, const uint8_t *data)
{
	uint32_t second = offset % 8;

	memcpy(registers->half + second, data, 4);
	if (second)
		page_ring(registers, offset - 4, registers->half, sizeof(registers->half));
}

/* Takes a BlueFlame write. Uses only the first bytes of the WQE, which name its queue, as the ring
 * has the whole WQE. */
static void ring_blueflame(struct registers *registers, uint64_t offset, const uint8_t *data,
			   uint32_t len)
{
	uint64_t page = offset / M4_UAR_PAGE - UAR_PAGES;
	uint32_t at = (uint32_t)(offset % BF_BUFFER), qpn_at = 4;
	uint32_t be = 0;

	if (at > qpn_at || at + len < qpn_at + sizeof(be))
		return;
	fld_set(&be, M4_SEND_QPN, fld_get(data - at, M4_CTRL_QPN));
	page_ring(registers, page * M4_UAR_PAGE + M4_UAR_SEND, (const uint8_t *)&be, sizeof(be));
}

void registers_ring(struct registers *registers, uint64_t offset, const uint8_t *data, uint32_t len)
{
	uint32_t at = (uint32_t)(offset % M4_UAR_PAGE);

	if (len < 4 || offset % 4)
		return;
	if (offset / M4_UAR_PAGE >= UAR_PAGES)
		ring_blueflame(registers, offset, data, len);
	else if (len == 4 && (at == M4_UAR_CQ || at == M4_UAR_CQ + 4))
		ring_half(registers, offset, data);
	else
		page_ring(registers, offset, data, len);
}
