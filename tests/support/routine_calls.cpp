// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "routine_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "gf128.hpp"
#include "model.hpp"

namespace tests {
namespace {

std::uint64_t address(std::span<std::uint8_t> memory) { return reinterpret_cast<std::uintptr_t>(memory.data()); }

Bytes copy_of(View bytes) { return {bytes.begin(), bytes.end()}; }

void add_blocks(std::vector<Bytes>& blocks, View bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    blocks.push_back(copy_of(bytes.subspan(i, std::min<std::size_t>(16, bytes.size() - i))));
  }
}

// Makes the calls with one key.
class CallMaker {
 public:
  CallMaker(CallMemory& memory, const Backend& backend, std::size_t key_bytes, std::uint64_t secret_seed)
      : memory_(memory),
        backend_(backend),
        secret_seed_(secret_seed),
        key_(Random(secret_seed * 1000 + key_bytes).bytes(key_bytes)),
        model_(key_),
        openssl_(key_),
        context_(model_.context()) {
    context_.backend = static_cast<std::uint32_t>(backend.index);
    for (std::size_t i = 0; i <= context_.rounds; ++i) add_blocks(secrets_, context_.round_key[i]);
    for (const auto& stored : context_.power) add_blocks(secrets_, stored);
    for (const auto& middle : context_.middle) add_blocks(secrets_, middle);
    Block power = model_.hash_key();
    for (std::size_t k = 1; k <= STITCHGCM_POWERS; ++k) {
      add_blocks(secrets_, power);
      power = gf128::multiply(power, model_.hash_key());
    }
  }

  RoutineCall init() {
    RoutineCall call = start("init", any_function(routines().init));
    const Bytes blank = copy_of(bytes_of(blank_context(key_.size(), backend_.index)));
    add_argument(call, add_part(call, "the context", blank, bytes_of(context_)));
    add_argument(call, add_part(call, "the key", key_, key_));
    return call;
  }

  enum class Way { seal, open, open_forged };

  RoutineCall message(const MessageShape& shape, Way way) {
    constexpr std::array<const char*, 3> names{"seal", "open", "open of a forgery"};
    const auto function = way == Way::seal ? any_function(routines().seal) : any_function(routines().open);
    RoutineCall call = start(fmt::format("{}: text {}, aad {}, iv {}", names[static_cast<std::size_t>(way)], shape.text,
                                         shape.aad, shape.iv),
                             function);
    Random random(shape.text * 31 + shape.aad);
    const Bytes iv = random.bytes(shape.iv);
    const Bytes aad = random.bytes(shape.aad);
    const Bytes text = Random(secret_seed_ * 2000 + shape.text).bytes(shape.text);
    const Sealed sealed = openssl_.seal(iv, aad, text);
    Bytes tag = copy_of(sealed.tag);
    if (way == Way::open_forged) tag[15] ^= 0x80;

    add_argument(call, add_part(call, "the context", bytes_of(context_), bytes_of(context_)));
    const auto iv_memory = add_part(call, "the iv", iv, iv);
    const auto aad_memory = add_part(call, "the aad", aad, aad);
    const Bytes& in = way == Way::seal ? text : sealed.text;
    const auto in_memory = add_part(call, "the input", in, in);
    const Bytes out = way == Way::seal ? sealed.text : way == Way::open ? text : Bytes(shape.text);
    const auto out_memory = add_part(call, "the output", Bytes(shape.text, 0xc5), out);
    const auto tag_memory = add_part(call, "the tag", way == Way::seal ? Bytes(16) : tag, tag);
    const stitchgcm_message message{iv_memory.data(),  iv.size(), aad_memory.data(), aad.size(), in_memory.data(),
                                    out_memory.data(), in.size(), tag_memory.data(), tag.size()};
    const View message_bytes(reinterpret_cast<const std::uint8_t*>(&message), sizeof message);
    add_argument(call, add_part(call, "the message structure", message_bytes, message_bytes));
    if (way != Way::seal) call.verdict = way == Way::open ? 1 : 0;

    const Block mask = model_.tag_mask(iv);
    add_blocks(call.secrets, mask);
    add_blocks(call.secrets, gf128::add(mask, sealed.tag));
    add_blocks(call.secrets, text);
    Bytes keystream = text;
    for (std::size_t i = 0; i < keystream.size(); ++i) keystream[i] ^= sealed.text[i];
    add_blocks(call.secrets, keystream);
    call.published = {sealed.text, tag};
    // The right tag of a forgery would be its forger's prize.
    if (way == Way::open_forged) add_blocks(call.secrets, sealed.tag);
    return call;
  }

  enum class Kind { ctr32, encrypt, decrypt };

  RoutineCall blocks(std::size_t count, Kind kind) {
    constexpr std::array<const char*, 3> names{"ctr32", "encrypt_blocks", "decrypt_blocks"};
    const auto function = kind == Kind::ctr32     ? any_function(routines().ctr32)
                          : kind == Kind::encrypt ? any_function(routines().encrypt_blocks)
                                                  : any_function(routines().decrypt_blocks);
    RoutineCall call = start(fmt::format("{}: {} blocks", names[static_cast<std::size_t>(kind)], count), function);
    Random random(count + 77);
    const Block counter = random.block();
    const Block accumulator = random.block();
    const Bytes in =
        kind == Kind::decrypt ? random.bytes(16 * count) : Random(secret_seed_ * 3000 + count).bytes(16 * count);
    const Bytes out = model_.ctr32(counter, in);
    add_argument(call, add_part(call, "the context", bytes_of(context_), bytes_of(context_)));
    add_argument(call, add_part(call, "the input", in, in));
    add_argument(call, add_part(call, "the output", Bytes(out.size(), 0xc5), out));
    call.arguments[next_argument_++] = count;
    add_argument(call, add_part(call, "the counter", counter, counter_after(counter, count)));
    if (kind != Kind::ctr32) {
      const Block hashed = model_.ghash(accumulator, kind == Kind::encrypt ? out : in);
      add_argument(call, add_part(call, "the accumulator", accumulator, hashed));
      if (count > 0) add_blocks(call.secrets, hashed);
    }
    add_blocks(call.secrets, model_.keystream(counter, count));
    add_blocks(call.secrets, kind == Kind::decrypt ? out : in);
    call.published = {kind == Kind::decrypt ? in : out};
    return call;
  }

  RoutineCall ghash(std::size_t count) {
    RoutineCall call = start(fmt::format("ghash: {} blocks", count), any_function(routines().ghash));
    Random random(count + 99);
    const Bytes data = random.bytes(16 * count);
    const Block accumulator = random.block();
    const Block hashed = model_.ghash(accumulator, data);
    add_argument(call, add_part(call, "the context", bytes_of(context_), bytes_of(context_)));
    add_argument(call, add_part(call, "the accumulator", accumulator, hashed));
    add_argument(call, add_part(call, "the data", data, data));
    call.arguments[next_argument_++] = count;
    if (count > 0) add_blocks(call.secrets, hashed);
    return call;
  }

 private:
  const stitchgcm_routines& routines() const { return backend_.routines(key_.size()); }

  RoutineCall start(const std::string& routine, AnyFunction function) {
    memory_.start_over();
    next_argument_ = 0;
    RoutineCall call;
    call.name = fmt::format("{} aes{} {}", backend_.name, 8 * key_.size(), routine);
    call.function = function;
    call.secrets = secrets_;
    return call;
  }

  std::span<std::uint8_t> add_part(RoutineCall& call, const char* name, View before, View after) {
    const auto memory = memory_.take(before.size());
    call.parts.push_back({name, memory, copy_of(before), copy_of(after)});
    return memory;
  }

  void add_argument(RoutineCall& call, std::span<std::uint8_t> memory) {
    call.arguments[next_argument_++] = address(memory);
  }

  CallMemory& memory_;
  Backend backend_;
  std::uint64_t secret_seed_;
  Bytes key_;
  Model model_;
  OpenSslGcm openssl_;
  stitchgcm_context context_;
  std::vector<Bytes> secrets_;
  std::size_t next_argument_ = 0;
};

}  // namespace

std::span<std::uint8_t> CallMemory::take(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const std::size_t start = (used_ + alignment - 1) / alignment * alignment;
  if (start + bytes > buffer_.all().size()) throw std::length_error("the call needs more memory than there is");
  used_ = start + bytes;
  return buffer_.all().subspan(start, bytes);
}

void RoutineCall::set_up() const {
  for (const Part& part : parts) std::copy(part.before.begin(), part.before.end(), part.memory.begin());
}

std::string RoutineCall::wrong(std::uint64_t result) const {
  const auto returned = static_cast<std::uint32_t>(result);
  if (verdict && returned != *verdict) return fmt::format("it returned {}, not {}", returned, *verdict);
  for (const Part& part : parts) {
    if (!equal(part.memory, part.after)) {
      return fmt::format("{} differs {}", part.name, difference_text(part.memory, part.after));
    }
  }
  return "";
}

std::vector<RoutineCall> routine_calls(CallMemory& memory, const CallPlan& plan, std::uint64_t secret_seed) {
  CallMaker make(memory, plan.backend, plan.key_bytes, secret_seed);
  std::vector<RoutineCall> calls{make.init()};
  for (const MessageShape& shape : plan.shapes) {
    for (const auto way : {CallMaker::Way::seal, CallMaker::Way::open, CallMaker::Way::open_forged}) {
      calls.push_back(make.message(shape, way));
    }
  }
  for (const std::size_t count : plan.block_counts) {
    for (const auto kind : {CallMaker::Kind::ctr32, CallMaker::Kind::encrypt, CallMaker::Kind::decrypt}) {
      calls.push_back(make.blocks(count, kind));
    }
    calls.push_back(make.ghash(count));
  }
  return calls;
}

}  // namespace tests
