// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "gcm/prototypes.hpp"

#include <fmt/format.h>

#include "gcm/roles.hpp"

namespace stitchgcm::gcm {
namespace {

using assembly::Parameter;
using assembly::Role;
using assembly::Routine;

const std::string kConstantTime =
    "Time and addresses depend on pointers, lengths and the number of rounds alone; keys, IV, AAD, text and tags are "
    "secret.";
const std::string kWiped = "All 16 vector registers are zero on return, bits 128 and up too.";

Parameter context_in() { return {"const stitchgcm_context *", "context", "as init leaves it; any alignment"}; }

Parameter in_blocks() { return {"const uint8_t *", "in", "16 blocks bytes, read"}; }
Parameter out_blocks() {
  return {"uint8_t *", "out", "16 blocks bytes, written; equal to in, or no byte in common with it"};
}
Parameter block_count() { return {"size_t", "blocks", "0 and more"}; }
Parameter counter_in_out() {
  return {"uint8_t *", "counter",
          "16 bytes, read and written: the next counter block; its last 4 bytes count mod 2^32"};
}
Parameter accumulator_in_out() {
  return {"uint8_t *", "accumulator", "16 bytes, read and written: GHASH's Y, in SP 800-38D's byte order"};
}

std::vector<Role> vector_roles() {
  return {{"xmm0..7", "AES states of eight blocks: in a batch in order, at the end by their distance from it"},
          {"xmm8", "in a batch the counters to come; at the end the state of J0"},
          {"xmm9", "round key"},
          {"xmm10, 11, 12", "GHASH's sums low, high and middle, not reduced"},
          {"xmm13, 14, 15", "the factors of one block's three products, then the products"}};
}

std::vector<Role> text_roles() {
  return {{"rbx", fmt::format("context + {}: round keys within one-byte displacements", Roles::context_bias)},
          {"rsi, rdi", "in, out"},
          {"rdx", "whole batches of eight blocks that are left"},
          {"rcx", "place of the power for the block after the batches; at partial blocks a shift count"},
          {"r8", fmt::format("place of the next block's power, + {}", Roles::power_bias)},
          {"r9", "batches until the next reduction"},
          {"r10, r11", "whole blocks after the batches, bytes of the partial block"},
          {"r14", "patterns of the eight counters in a batch"},
          {"rax", "scratch"}};
}

std::vector<Role> operator+(std::vector<Role> a, const std::vector<Role>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Routine message_prototype(bool seal) {
  Routine r;
  r.summary = fmt::format("AES-GCM, one message: {} (SP 800-38D, algorithm {})",
                          seal ? "authenticated encryption" : "authenticated decryption", seal ? 4 : 5);
  r.effect = {"H = AES(key, 0^128); J0 = IV || 0^31 || 1 if the IV has 12 bytes, else GHASH(IV || 0.. || [bits(IV)]64)",
              "out = in ^ AES(key, J0 + 1), AES(key, J0 + 2), ..: the last 32 bits count",
              fmt::format("T = AES(key, J0) ^ GHASH(AAD || 0.. || {} || 0.. || [bits(AAD)]64 || [bits(in)]64)",
                          seal ? "out" : "in"),
              seal ? "tag = the first tag_bytes bytes of T"
                   : "if tag is not the first tag_bytes bytes of T: out = zeros. Decrypted on the way, in one pass."};
  r.prototype.result = seal ? "void" : "int";
  if (!seal) r.prototype.result_contract = "1: authentic; 0: not";
  r.prototype.parameters = {
      context_in(),
      {"const stitchgcm_message *", "message",
       fmt::format("iv_bytes >= 1; aad_bytes < 2^61; bytes <= 2^36 - 32; tag_bytes 4, 8 or 12..16; in = out or no byte "
                   "in common; {}",
                   seal ? "out and tag written" : "out written, tag read; tag and out have no byte in common")}};
  r.roles = text_roles() + std::vector<Role>{{"rbp", "message"}} + vector_roles();
  r.promises = {kConstantTime, kWiped, "Nothing is read or written outside the buffers, not even within a block."};
  if (!seal)
    r.promises.push_back("The comparison of the tags takes the same time for any difference; its verdict is public.");
  return r;
}

}  // namespace

Routine init_prototype(KeyLength k) {
  Routine r;
  r.summary = fmt::format("AES-{} key schedule, H and its powers", key_bits(k));
  r.effect = {"round_key[0.." + std::to_string(rounds(k)) + "] = KeyExpansion(key) (FIPS 197, 5.2)",
              fmt::format("hash_key = H = AES(key, 0^128); rounds = {}", rounds(k)),
              "power[i] = H^(40 - i), as stitchgcm_layout.h stores it"};
  r.prototype = {
      "void",
      "",
      {{"stitchgcm_context *", "context", "round_key, hash_key, rounds and power written, the rest left alone"},
       {"const uint8_t *", "key", fmt::format("{} bytes, read; not in the context", key_bits(k) / 8)}}};
  r.roles = {{"rbx", fmt::format("context + {}", Roles::context_bias)},
             {"rsi", "key"},
             {"xmm0", "the state that becomes H"},
             {"xmm1..5", "round keys, and what goes into the next one"}};
  r.promises = {"Time and addresses depend on pointers alone; the key is secret.", kWiped};
  return r;
}

Routine powers_prototype() {
  Routine r;
  r.summary = "Internal: the powers of H, for init";
  r.effect = {"power[i] = H^(40 - i), as stitchgcm_layout.h stores it"};
  r.roles = {{"rbx", fmt::format("context + {}", Roles::context_bias)},
             {"r8", "eight powers, from which the next eight are made"},
             {"xmm0", "at entry H; then H x"}};
  r.promises = {"Not a C function: called by the init routines alone, registers as above.",
                "Clobbers rax, r8 and the vectors."};
  return r;
}

Routine seal_prototype() { return message_prototype(true); }
Routine open_prototype() { return message_prototype(false); }

Routine blocks_prototype(Direction d) {
  const bool encrypt = d == Direction::encrypt;
  Routine r;
  r.summary = fmt::format("AES-GCM, whole blocks: {} and hash", encrypt ? "encrypt" : "decrypt");
  r.effect = {"out[i] = in[i] ^ AES(key, counter + i), 0 <= i < blocks; counter = counter + blocks",
              fmt::format("accumulator = (..((accumulator ^ {0}[0]) H ^ {0}[1]) H ^ ..) H", encrypt ? "out" : "in")};
  r.prototype = {
      "void", "", {context_in(), in_blocks(), out_blocks(), block_count(), counter_in_out(), accumulator_in_out()}};
  r.roles = text_roles() + std::vector<Role>{{"r12, r13", "counter, accumulator"}} + vector_roles();
  r.promises = {kConstantTime, kWiped};
  return r;
}

Routine batches_prototype(Direction d, KeyLength k) {
  Routine r;
  r.summary = fmt::format("Internal: batches of eight blocks for AES-{} {}", key_bits(k),
                          d == Direction::encrypt ? "seal and encrypt_blocks" : "open and decrypt_blocks");
  r.effect = {"out[i] = in[i] ^ AES(key, counter + i), 0 <= i < 8 batches; in, out and counter move on",
              "sums = products of the blocks (and of Y) with powers of H that end before the one at rcx; each full "
              "group of batches is reduced to Y on the way"};
  r.prototype = {"", "", {}};
  r.roles = text_roles() + vector_roles() +
            std::vector<Role>{{"xmm0, xmm1", "at entry and return: the next counter block and Y, bytes reversed"}};
  r.promises = {kConstantTime, "Not a C function: called by the routines of this backend alone, registers as above.",
                "Clobbers rax, rdx, r8, r9 and the vectors that are not results."};
  return r;
}

Routine ctr32_prototype() {
  Routine r;
  r.summary = "AES in counter mode, whole blocks, 32-bit counter (SP 800-38D, 6.5)";
  r.effect = {"out[i] = in[i] ^ AES(key, counter + i), 0 <= i < blocks; counter = counter + blocks"};
  r.prototype = {"void", "", {context_in(), in_blocks(), out_blocks(), block_count(), counter_in_out()}};
  r.roles = {{"rbx", fmt::format("context + {}", Roles::context_bias)},
             {"rsi, rdi", "in, out"},
             {"rdx, r10", "batches of eight blocks, blocks after them"},
             {"r12", "counter"},
             {"xmm0..7", "AES states"},
             {"xmm9", "round key"},
             {"xmm13", "counter block, bytes reversed"}};
  r.promises = {kConstantTime, kWiped};
  return r;
}

Routine ghash_prototype() {
  Routine r;
  r.summary = "GHASH of whole blocks (SP 800-38D, 6.4), any key length";
  r.effect = {"accumulator = (..((accumulator ^ data[0]) H ^ data[1]) H ^ ..) H"};
  r.prototype = {
      "void",
      "",
      {context_in(), accumulator_in_out(), {"const uint8_t *", "data", "16 blocks bytes, read"}, block_count()}};
  r.roles = {{"rbx", fmt::format("context + {}", Roles::context_bias)},
             {"rsi", "data"},
             {"rdx, r10", "batches of eight blocks, blocks after them"},
             {"r8", "where the powers of the last blocks begin"},
             {"r13", "accumulator"},
             {"xmm1", "Y, bytes reversed"},
             {"xmm10, 11, 12", "sums low, high and middle"},
             {"xmm13, 14, 15", "one product: block, low ^ high of it, scratch"}};
  r.promises = {kConstantTime, kWiped};
  return r;
}

}  // namespace stitchgcm::gcm
