// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "routine_calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gf128.hpp"
#include "model.hpp"

namespace tests {
namespace {

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void add_blocks(std::vector<Bytes>& secrets, View bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 16) {
    const View block = bytes.subspan(i, std::min<std::size_t>(16, bytes.size() - i));
    secrets.emplace_back(block.begin(), block.end());
  }
}

// A key and what all calls with it share.
struct KeyState {
  KeyState(const Backend& backend_, std::size_t key_bytes)
      : backend(backend_),
        key(Random(0xca11 + key_bytes).bytes(key_bytes)),
        model(key),
        openssl(key),
        context(model.context()) {
    context.backend = static_cast<std::uint32_t>(backend.index);
  }

  std::vector<Bytes> secrets() const {
    std::vector<Bytes> blocks;
    for (std::size_t i = 0; i <= context.rounds; ++i) add_blocks(blocks, context.round_key[i]);
    add_blocks(blocks, context.hash_key);
    for (const stitchgcm_power& power : context.power) {
      add_blocks(blocks, power.value);
      add_blocks(blocks, power.middle);
    }
    Block power = model.hash_key();
    for (std::size_t k = 1; k <= STITCHGCM_POWERS; ++k, power = gf128::multiply(power, model.hash_key())) {
      add_blocks(blocks, power);
    }
    return blocks;
  }

  std::string name(const std::string& routine) const {
    return fmt::format("{} aes{} {}", backend.name, 8 * key.size(), routine);
  }

  const stitchgcm_routines& routines() const { return backend.routines(key.size()); }

  Backend backend;
  Bytes key;
  Model model;
  OpenSslGcm openssl;
  stitchgcm_context context;
};

RoutineCall init_call(const std::shared_ptr<KeyState>& state) {
  const auto context = std::make_shared<stitchgcm_context>();
  RoutineCall call;
  call.name = state->name("init");
  call.function = any_function(state->routines().init);
  call.arguments = {address(context.get()), address(state->key.data())};
  call.reset = [state, context] { *context = blank_context(state->key.size(), state->backend.index); };
  call.wrong = [state, context](std::uint64_t) -> std::string {
    if (equal(bytes_of(*context), bytes_of(state->context))) return "";
    return "the context differs " + difference_text(bytes_of(*context), bytes_of(state->context));
  };
  call.secrets = state->secrets();
  return call;
}

struct MessageState {
  Bytes iv;
  Bytes aad;
  Bytes in;
  Bytes out;
  Bytes tag;
  stitchgcm_message message{};
};

enum class Way { seal, open, open_forged };

RoutineCall message_call(const std::shared_ptr<KeyState>& state, const MessageShape& shape, Way way) {
  Random random(shape.text * 31 + shape.aad);
  const auto m = std::make_shared<MessageState>();
  m->iv = random.bytes(shape.iv);
  m->aad = random.bytes(shape.aad);
  const Bytes text = random.bytes(shape.text);
  const Sealed sealed = state->openssl.seal(m->iv, m->aad, text);
  m->in = way == Way::seal ? text : sealed.text;
  Bytes tag_before(16);
  if (way != Way::seal) tag_before.assign(sealed.tag.begin(), sealed.tag.end());
  if (way == Way::open_forged) tag_before[15] ^= 0x80;
  m->out.resize(shape.text);
  m->tag.resize(16);
  m->message = {m->iv.data(),  m->iv.size(), m->aad.data(), m->aad.size(), m->in.data(),
                m->out.data(), m->in.size(), m->tag.data(), m->tag.size()};

  RoutineCall call;
  constexpr std::array<const char*, 3> names{"seal", "open", "open of a forgery"};
  call.name = state->name(
      fmt::format("{}: text {}, aad {}, iv {}", names[static_cast<std::size_t>(way)], shape.text, shape.aad, shape.iv));
  call.function = way == Way::seal ? any_function(state->routines().seal) : any_function(state->routines().open);
  call.arguments = {address(&state->context), address(&m->message)};
  call.reset = [m, tag_before] {
    std::fill(m->out.begin(), m->out.end(), std::uint8_t{0xc5});
    m->tag = tag_before;
  };
  const Bytes want = way == Way::seal ? sealed.text : way == Way::open ? text : Bytes(shape.text);
  const Bytes want_tag = way == Way::seal ? Bytes(sealed.tag.begin(), sealed.tag.end()) : tag_before;
  call.wrong = [m, way, want, want_tag](std::uint64_t result) -> std::string {
    const auto verdict = static_cast<std::uint32_t>(result);
    if (way != Way::seal && verdict != (way == Way::open ? 1u : 0u)) return fmt::format("verdict {}", verdict);
    if (!equal(m->out, want)) return "the output differs " + difference_text(m->out, want);
    if (!equal(m->tag, want_tag)) return "the tag differs " + difference_text(m->tag, want_tag);
    return "";
  };
  call.secrets = state->secrets();
  const Block mask = state->model.tag_mask(m->iv);
  add_blocks(call.secrets, mask);
  add_blocks(call.secrets, gf128::add(mask, sealed.tag));
  add_blocks(call.secrets, text);
  Bytes keystream = text;
  for (std::size_t i = 0; i < keystream.size(); ++i) keystream[i] ^= sealed.text[i];
  add_blocks(call.secrets, keystream);
  return call;
}

enum class Blocks { ctr32, encrypt, decrypt };

struct BlocksState {
  Bytes in;
  Bytes out;
  Block counter{};
  Block accumulator{};
};

RoutineCall blocks_call(const std::shared_ptr<KeyState>& state, std::size_t blocks, Blocks which) {
  Random random(blocks + 77);
  const auto b = std::make_shared<BlocksState>();
  b->in = random.bytes(16 * blocks);
  b->out.resize(16 * blocks);
  const Block counter = random.block();
  const Block accumulator = random.block();
  const stitchgcm_routines& r = state->routines();
  RoutineCall call;
  constexpr std::array<const char*, 3> names{"ctr32", "encrypt_blocks", "decrypt_blocks"};
  call.name = state->name(fmt::format("{}: {} blocks", names[static_cast<std::size_t>(which)], blocks));
  call.function = which == Blocks::ctr32     ? any_function(r.ctr32)
                  : which == Blocks::encrypt ? any_function(r.encrypt_blocks)
                                             : any_function(r.decrypt_blocks);
  call.arguments = {address(&state->context),   address(b->in.data()),         address(b->out.data()), blocks,
                    address(b->counter.data()), address(b->accumulator.data())};
  call.reset = [b, counter, accumulator] {
    std::fill(b->out.begin(), b->out.end(), std::uint8_t{0xc5});
    b->counter = counter;
    b->accumulator = accumulator;
  };
  const Bytes want = state->model.ctr32(counter, b->in);
  const Block want_counter = counter_after(counter, blocks);
  const Block want_accumulator =
      which == Blocks::ctr32 ? accumulator : state->model.ghash(accumulator, which == Blocks::encrypt ? want : b->in);
  call.wrong = [b, want, want_counter, want_accumulator](std::uint64_t) -> std::string {
    if (!equal(b->out, want)) return "the output differs " + difference_text(b->out, want);
    if (!equal(b->counter, want_counter)) return "the counter differs " + difference_text(b->counter, want_counter);
    if (!equal(b->accumulator, want_accumulator)) {
      return "the accumulator differs " + difference_text(b->accumulator, want_accumulator);
    }
    return "";
  };
  call.secrets = state->secrets();
  add_blocks(call.secrets, state->model.keystream(counter, blocks));
  add_blocks(call.secrets, which == Blocks::decrypt ? want : b->in);
  return call;
}

RoutineCall ghash_call(const std::shared_ptr<KeyState>& state, std::size_t blocks) {
  Random random(blocks + 99);
  const auto b = std::make_shared<BlocksState>();
  b->in = random.bytes(16 * blocks);
  const Block accumulator = random.block();
  RoutineCall call;
  call.name = state->name(fmt::format("ghash: {} blocks", blocks));
  call.function = any_function(state->routines().ghash);
  call.arguments = {address(&state->context), address(b->accumulator.data()), address(b->in.data()), blocks};
  call.reset = [b, accumulator] { b->accumulator = accumulator; };
  const Block want = state->model.ghash(accumulator, b->in);
  call.wrong = [b, want](std::uint64_t) -> std::string {
    return equal(b->accumulator, want) ? "" : "the accumulator differs " + difference_text(b->accumulator, want);
  };
  call.secrets = state->secrets();
  return call;
}

}  // namespace

std::vector<RoutineCall> routine_calls(const Backend& backend, std::size_t key_bytes,
                                       const std::vector<MessageShape>& shapes,
                                       const std::vector<std::size_t>& block_counts) {
  const auto state = std::make_shared<KeyState>(backend, key_bytes);
  std::vector<RoutineCall> calls{init_call(state)};
  for (const MessageShape& shape : shapes) {
    for (const Way way : {Way::seal, Way::open, Way::open_forged}) calls.push_back(message_call(state, shape, way));
  }
  for (const std::size_t blocks : block_counts) {
    for (const Blocks which : {Blocks::ctr32, Blocks::encrypt, Blocks::decrypt}) {
      calls.push_back(blocks_call(state, blocks, which));
    }
    calls.push_back(ghash_call(state, blocks));
  }
  return calls;
}

}  // namespace tests
