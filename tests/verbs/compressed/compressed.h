/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compressed.h - the topics of verbs-compressed.
 */
#ifndef TESTS_VERBS_COMPRESSED_COMPRESSED_H
#define TESTS_VERBS_COMPRESSED_COMPRESSED_H

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

void compressed_create(struct rig *rig);
void compressed_runs(struct rig *rig);
void compressed_laps(struct rig *rig);
void compressed_unlike(struct rig *rig);
void compressed_errors(struct rig *rig);
void compressed_small(struct rig *rig);
/* This one is of our library alone. */
void compressed_polled(struct rig *rig);

#endif
