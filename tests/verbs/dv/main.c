/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-dv [TOPIC...]: the small objects of direct verbs, call by call. It prints results,
 * which must be the same on the distribution's library.
 */
#include "tests/verbs/dv/dv.h"
#include "util/bits.h"

static const struct rig_topic topics[] = {
	{ "device", dv_device },
	{ "objects", dv_objects },
	{ "allocators", dv_allocators },
	{ "allocators-taken", dv_allocators_taken },
	{ "memory", dv_memory },
	{ "rates", dv_rates },
	{ "doorbells", dv_doorbells },
	{ "registers", dv_registers },
	{ "scheduling", dv_scheduling },
	{ "foreign-schedulers", dv_foreign_schedulers },
	{ "numbers", dv_numbers },
	{ "addresses", dv_addresses },
	{ "interrupts", dv_interrupts },
	{ "signed", dv_signed },
	{ "mkeys", dv_mkeys },
	{ "mkey-queues", dv_mkey_queues },
	{ "in-use", dv_in_use },
	{ "signatures", dv_signatures },
	{ "layouts", dv_layouts },
	{ "fences", dv_fences },
	{ "flips", dv_flips },
	{ "every-bit", dv_every_bit },
	{ "encryption", dv_encryption },
	{ "signature-pairs", dv_signature_pairs },
	{ "encrypted-signatures", dv_encrypted_signatures },
	{ "crypto", dv_crypto },
	{ "lost-login", dv_lost_login },
	{ "lost-login-object", dv_lost_login_object },
	{ "lost-login-data", dv_lost_login_data },
	{ "logged-out", dv_logged_out },
	{ "cancelled", dv_cancelled },
	{ "pipelined", dv_pipelined },
	{ "raw-wqes", dv_raw_wqes },
	{ "raw-too-long", dv_raw_too_long },
	{ "many-layouts", dv_many_layouts },
	{ "taken-back", dv_taken_back },
	{ "failed-once", dv_failed_once },
	{ "one-line", dv_one_line },
	{ "one-line-crypto", dv_one_line_crypto },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
