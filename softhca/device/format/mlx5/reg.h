/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reg.h - registers of Ethernet ports, one function each, for reg.c's table.
 *
 * DATA is the register that software wrote, and becomes the one that it reads; it has room for the
 * whole register. Each returns NULL or the reason for refusing the access.
 */
#ifndef SOFTHCA_DEVICE_REG_H
#define SOFTHCA_DEVICE_REG_H

#include "softhca/device/core.h"

const char *eth_reg_pmtu(struct hca *hca, bool write, unsigned int port, uint8_t *data);
const char *eth_reg_ptys(struct hca *hca, bool write, unsigned int port, uint8_t *data);
const char *eth_reg_pmlp(struct hca *hca, bool write, unsigned int port, uint8_t *data);
const char *eth_reg_pfcc(struct hca *hca, bool write, unsigned int port, uint8_t *data);
/* InfiniBand ports also have these registers. */
const char *port_reg_paos(struct hca *hca, bool write, unsigned int port, uint8_t *data);
const char *port_reg_ppcnt(struct hca *hca, bool write, unsigned int port, uint8_t *data);

#endif
