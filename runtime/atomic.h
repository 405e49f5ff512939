/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Atomic integers for sources that are C11 and C++20 at once, where the two languages differ in spelling. All accesses
 * are relaxed: each value here means something by itself, and nothing else is published with it. Internal.
 */
#ifndef STITCHGCM_ATOMIC_H
#define STITCHGCM_ATOMIC_H

#include <stdint.h>

#ifdef __cplusplus

#include <atomic>

typedef std::atomic<uint32_t> stitchgcm_atomic32;
typedef std::atomic<uint64_t> stitchgcm_atomic64;

static inline uint32_t stitchgcm_atomic32_load(stitchgcm_atomic32 *a) { return a->load(std::memory_order_relaxed); }
static inline void stitchgcm_atomic32_store(stitchgcm_atomic32 *a, uint32_t value) {
  a->store(value, std::memory_order_relaxed);
}
static inline uint64_t stitchgcm_atomic64_load(stitchgcm_atomic64 *a) { return a->load(std::memory_order_relaxed); }
static inline void stitchgcm_atomic64_store(stitchgcm_atomic64 *a, uint64_t value) {
  a->store(value, std::memory_order_relaxed);
}
static inline void stitchgcm_atomic64_add(stitchgcm_atomic64 *a, uint64_t value) {
  a->fetch_add(value, std::memory_order_relaxed);
}

#else

#include <stdatomic.h>

typedef _Atomic(uint32_t) stitchgcm_atomic32;
typedef _Atomic(uint64_t) stitchgcm_atomic64;

static inline uint32_t stitchgcm_atomic32_load(stitchgcm_atomic32 *a) {
  return atomic_load_explicit(a, memory_order_relaxed);
}
static inline void stitchgcm_atomic32_store(stitchgcm_atomic32 *a, uint32_t value) {
  atomic_store_explicit(a, value, memory_order_relaxed);
}
static inline uint64_t stitchgcm_atomic64_load(stitchgcm_atomic64 *a) {
  return atomic_load_explicit(a, memory_order_relaxed);
}
static inline void stitchgcm_atomic64_store(stitchgcm_atomic64 *a, uint64_t value) {
  atomic_store_explicit(a, value, memory_order_relaxed);
}
static inline void stitchgcm_atomic64_add(stitchgcm_atomic64 *a, uint64_t value) {
  atomic_fetch_add_explicit(a, value, memory_order_relaxed);
}

#endif

#endif
