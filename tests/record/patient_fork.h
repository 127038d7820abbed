/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SONDE_TESTS_PATIENT_FORK_H
#define SONDE_TESTS_PATIENT_FORK_H

#include "record/library_thread.h"

/* For tests that fork while the library's threads work: the address sanitizer's allocator, unlike
   the C library's, leaves a child hanging whose parent had a thread inside it. */
static inline void patient_fork(void)
{
    sonde__fork_wait_ns = 20000000000u;
}

#endif
