/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rs.h"
int datagram_create(int domain, struct rs **rs)
{
	(void)domain;
	(void)rs;
	return EOPNOTSUPP;
}
