/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * args.c - arguments of calls in several families.
 *
 * Covers: libibverbs/verbs_mr.c
 */
#include "odd.h"

#define NO_OBJECT                  \
	{                          \
		"NULL", .value = 0 \
	}

static void *device_good(void)
{
	return odd_ibv_device;
}

const struct odd_arg arg_device = { "device", .make = device_good, .values = { NO_OBJECT } };
const struct odd_arg arg_context = { "context", .make = odd_context, .values = { NO_OBJECT } };
/* Of calls that release 65.0 makes with no context as well */
const struct odd_arg arg_context_free = { "context", .make = odd_context };
const struct odd_arg arg_pd = { "pd", .make = odd_pd,
				.values = { NO_OBJECT, { "foreign", .make = odd_other_pd } } };
const struct odd_arg arg_mr = { "mr", .make = odd_mr, .values = { NO_OBJECT } };
const struct odd_arg arg_mw = { "mw", .make = odd_mw, .values = { NO_OBJECT } };
const struct odd_arg arg_dm = { "dm", .make = odd_dm, .values = { NO_OBJECT } };
const struct odd_arg arg_cq = { "cq", .make = odd_cq, .values = { NO_OBJECT } };
const struct odd_arg arg_cq_ex = { "cq", .make = odd_cq_ex, .values = { NO_OBJECT } };
const struct odd_arg arg_srq = { "srq", .make = odd_srq, .values = { NO_OBJECT } };
const struct odd_arg arg_wq = { "wq", .make = odd_wq, .values = { NO_OBJECT } };
const struct odd_arg arg_qp = { "qp", .make = odd_qp_rc,
				.values = { NO_OBJECT,
					    { "in INIT", .make = odd_qp_init },
					    { "in RTS", .make = odd_qp_rts },
					    { "of UD", .make = odd_qp_ud },
					    { "of raw packets", .make = odd_qp_raw } } };
const struct odd_arg arg_qp_init = { "qp", .make = odd_qp_init, .values = { NO_OBJECT } };
const struct odd_arg arg_qp_rts = { "qp", .make = odd_qp_rts,
				    .values = { NO_OBJECT,
						{ "in RESET", .make = odd_qp_rc },
						{ "in INIT", .make = odd_qp_init },
						{ "of UD", .make = odd_qp_ud },
						{ "of raw packets", .make = odd_qp_raw } } };
const struct odd_arg arg_qp_ex = { "qp", .make = odd_qp_ex, .values = { NO_OBJECT } };
const struct odd_arg arg_ah = { "ah", .make = odd_ah, .values = { NO_OBJECT } };
const struct odd_arg arg_channel = { "channel", .make = odd_channel, .values = { NO_OBJECT } };
const struct odd_arg arg_port = { "port", .good = 1,
				  .values = { V("0", 0), V("2", 2), V("3", 3), V("255", 255) } };
const struct odd_arg arg_index = { "index", .good = 0,
				   .values = { V("127", 127), V("32768", 32768), V("-1", -1) } };
const struct odd_arg arg_out = { "out", .is_out = true, .values = { NO_OBJECT } };
const struct odd_arg arg_out2 = { "second out", .is_out = true, .values = { NO_OBJECT } };
const struct odd_arg arg_addr = { "addr", .make = odd_buffer,
				  .values = { NO_OBJECT, V("4096", 4096), V("-4096", -4096) } };
const struct odd_arg arg_length = { "length", .good = 8192,
				    .values = { V("0", 0), V("1", 1), V("2^40", 1l << 40),
						V("2^62", 1l << 62), V("-1", -1) } };
const struct odd_arg arg_access = { "access", .good = IBV_ACCESS_LOCAL_WRITE,
				    .values = { V("0", 0), V("remote write alone", 2),
						V("bit 16", 1 << 16), V("optional", 1 << 29),
						V("all ones", -1) } };
const struct odd_arg arg_flags = { "flags", .good = 0,
				   .values = { V("1", 1), V("2", 2), V("2^31", 1l << 31),
					       V("all ones", 0xffffffff) } };
const struct odd_arg arg_handle = { "handle", .good = 4095,
				    .values = { V("4094", 4094), V("all ones", 0xffffffff) } };
const struct odd_arg arg_fd = {
	"fd", .good = -1, .values = { V("0", 0), V("9999", 9999), V("INT_MIN", -2147483647l - 1) }
};
const struct odd_arg arg_u16 = { "number", .good = 0, .values = { V("1", 1), V("65535", 65535) } };
