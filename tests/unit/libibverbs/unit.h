/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unit.h - cmocka, with the headers that it requires.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_UNIT_H
#define TESTS_UNIT_LIBIBVERBS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
