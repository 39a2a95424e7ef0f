/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* branch.h - branch prediction hints for the data path, by which the compiler moves rare cases out
 * of the straight line. */
#ifndef PROVIDERS_COMMON_BRANCH_H
#define PROVIDERS_COMMON_BRANCH_H

#define likely(cond)   __builtin_expect(!!(cond), 1)
#define unlikely(cond) __builtin_expect(!!(cond), 0)

#endif
