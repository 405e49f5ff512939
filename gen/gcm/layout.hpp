// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#pragma once
// Where things lie in memory: the structures that the runtime's header defines, as numbers for the builders.
#include <cstddef>

#include "stitchgcm_layout.h"

namespace stitchgcm::layout {

inline constexpr int kBlockBytes = 16;

// stitchgcm_context
inline constexpr int kRoundKeys = 0;
inline constexpr int kHashKey = 240;
inline constexpr int kRounds = 256;
inline constexpr int kPowers = 320;
inline constexpr int kPowerBytes = 16;
inline constexpr int kPowerCount = 40;
inline constexpr int kMiddles = kPowers + kPowerBytes * kPowerCount;
inline constexpr int kMiddle = kMiddles - kPowers;  // from a power to its middle: low ^ high, in both halves
inline constexpr int kContextBytes = kMiddles + kPowerBytes * kPowerCount;

/// Offset of H^exponent in the context; 1 <= exponent <= kPowerCount.
constexpr int power(int exponent) { return kPowers + kPowerBytes * (kPowerCount - exponent); }

static_assert(offsetof(stitchgcm_context, round_key) == kRoundKeys);
static_assert(offsetof(stitchgcm_context, hash_key) == kHashKey);
static_assert(offsetof(stitchgcm_context, rounds) == kRounds);
static_assert(offsetof(stitchgcm_context, power) == kPowers);
static_assert(offsetof(stitchgcm_context, middle) == kMiddles);
static_assert(sizeof(stitchgcm_context::power[0]) == kPowerBytes &&
              sizeof(stitchgcm_context::middle[0]) == kPowerBytes);
static_assert(STITCHGCM_POWERS == kPowerCount);
static_assert(sizeof(stitchgcm_context) == kContextBytes);

// stitchgcm_message
inline constexpr int kIv = 0;
inline constexpr int kIvBytes = 8;
inline constexpr int kAad = 16;
inline constexpr int kAadBytes = 24;
inline constexpr int kIn = 32;
inline constexpr int kOut = 40;
inline constexpr int kTextBytes = 48;
inline constexpr int kTag = 56;
inline constexpr int kTagBytes = 64;

static_assert(offsetof(stitchgcm_message, iv) == kIv && offsetof(stitchgcm_message, iv_bytes) == kIvBytes);
static_assert(offsetof(stitchgcm_message, aad) == kAad && offsetof(stitchgcm_message, aad_bytes) == kAadBytes);
static_assert(offsetof(stitchgcm_message, in) == kIn && offsetof(stitchgcm_message, out) == kOut);
static_assert(offsetof(stitchgcm_message, bytes) == kTextBytes);
static_assert(offsetof(stitchgcm_message, tag) == kTag && offsetof(stitchgcm_message, tag_bytes) == kTagBytes);

}  // namespace stitchgcm::layout
