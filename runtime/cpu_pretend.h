/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Features taken away by the environment variable STITCHGCM_CPU_FEATURES, so that one CPU can stand in for lesser ones.
 * In builds for tests and benchmarks only: in the product nobody's environment decides which code runs. Internal.
 */
#ifndef STITCHGCM_CPU_PRETEND_H
#define STITCHGCM_CPU_PRETEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef STITCHGCM_TESTING

#ifdef __cplusplus
extern "C" {
#endif

/*
 * *features := the features named in `list`, separated by commas or spaces; empty names do not count, so "" is the
 * empty set. 1: done. 0: a name is unknown; then *unknown and *unknown_bytes say which, and *features is left alone.
 */
int stitchgcm_cpu_parse_features(const char *list, uint64_t *features, const char **unknown, size_t *unknown_bytes);

/*
 * Those of `features` that `list` names: a list takes away and never adds. All of them if `list` is null (no list), or
 * if `is_privileged`: a program that runs with other rights than its user's does not listen to that user's environment.
 * An unknown name prints one line to stderr and aborts, since a test that runs on another CPU class than the one it was
 * told proves nothing.
 */
uint64_t stitchgcm_cpu_restrict(uint64_t features, const char *list, int is_privileged);

/* The same with the list and the rights of this process. */
uint64_t stitchgcm_cpu_restrict_by_environment(uint64_t features);

#ifdef __cplusplus
}
#endif

#endif

#endif
