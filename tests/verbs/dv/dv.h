/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - the topics of verbs-dv.
 */
#ifndef TESTS_VERBS_DV_DV_H
#define TESTS_VERBS_DV_DV_H

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

void dv_addresses(struct rig *rig);
void dv_allocators(struct rig *rig);
void dv_allocators_taken(struct rig *rig);
void dv_device(struct rig *rig);
void dv_interrupts(struct rig *rig);
void dv_memory(struct rig *rig);
void dv_objects(struct rig *rig);
void dv_rates(struct rig *rig);
void dv_doorbells(struct rig *rig);
void dv_registers(struct rig *rig);
void dv_signed(struct rig *rig);
void dv_scheduling(struct rig *rig);
void dv_foreign_schedulers(struct rig *rig);
void dv_mkeys(struct rig *rig);
void dv_layouts(struct rig *rig);
void dv_many_layouts(struct rig *rig);
void dv_fences(struct rig *rig);
void dv_flips(struct rig *rig);
void dv_every_bit(struct rig *rig);
void dv_signatures(struct rig *rig);
void dv_encryption(struct rig *rig);
void dv_signature_pairs(struct rig *rig);
void dv_encrypted_signatures(struct rig *rig);
void dv_crypto(struct rig *rig);
void dv_lost_login(struct rig *rig);
void dv_lost_login_object(struct rig *rig);
void dv_lost_login_data(struct rig *rig);
void dv_logged_out(struct rig *rig);
void dv_cancelled(struct rig *rig);
void dv_pipelined(struct rig *rig);
void dv_taken_back(struct rig *rig);
void dv_failed_once(struct rig *rig);
void dv_one_line(struct rig *rig);
void dv_one_line_crypto(struct rig *rig);
void dv_raw_wqes(struct rig *rig);
void dv_raw_too_long(struct rig *rig);
void dv_in_use(struct rig *rig);
void dv_mkey_queues(struct rig *rig);
void dv_numbers(struct rig *rig);

#endif
