// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "ours.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "stitchgcm.h"

namespace stitchgcm::bench {
namespace {

std::size_t key_index(std::size_t key_bytes) { return (key_bytes - 16) / 8; }

stitchgcm_message message_of(const Message& message, const Job& job) {
  const std::span<const std::uint8_t> aad = job.aad();
  stitchgcm_message result{};
  result.iv = message.iv;
  result.iv_bytes = job.iv_bytes();
  result.aad = aad.data();
  result.aad_bytes = aad.size();
  result.in = message.in;
  result.out = message.out;
  result.bytes = message.bytes;
  result.tag = message.tag;
  result.tag_bytes = tag_bytes;
  return result;
}

void run_routine(const stitchgcm_routines& routines, const stitchgcm_context& context, Operation operation, Job& job,
                 std::size_t count) {
  const auto stitched = [&](auto routine) {
    job.each_blocks(count,
                    [&](const Blocks& b) { routine(&context, b.in, b.out, b.blocks, b.counter, b.accumulator); });
  };
  if (operation == Operation::encrypt_blocks) stitched(routines.encrypt_blocks);
  if (operation == Operation::decrypt_blocks) stitched(routines.decrypt_blocks);
  if (operation == Operation::ctr32) {
    job.each_blocks(count, [&](const Blocks& b) { routines.ctr32(&context, b.in, b.out, b.blocks, b.counter); });
  }
  if (operation == Operation::ghash) {
    job.each_blocks(count, [&](const Blocks& b) { routines.ghash(&context, b.accumulator, b.in, b.blocks); });
  }
}

class Backend : public Contender {
 public:
  explicit Backend(const stitchgcm_backend& backend)
      : Contender(backend.name,
                  fmt::format("stitchgcm {}, backend {}, by the public API", stitchgcm_version(), backend.name)),
        backend_(backend) {}

  bool supports(Operation) const override { return true; }

  void set_key(std::span<const std::uint8_t> key, std::size_t) override {
    key_bytes_ = key.size();
    const stitchgcm_status status = stitchgcm_key_init_for(&key_, backend_.name, key.data(), key.size());
    if (status != STITCHGCM_OK) throw std::runtime_error(stitchgcm_status_text(status));
  }

  std::size_t run(Operation operation, Job& job, std::size_t count) override {
    if (operation == Operation::seal) {
      return job.each_message(operation, count, [&](const Message& message) {
        const stitchgcm_message m = message_of(message, job);
        return stitchgcm_seal(&key_, &m) == STITCHGCM_OK;
      });
    }
    if (operation == Operation::open) {
      return job.each_message(operation, count, [&](const Message& message) {
        const stitchgcm_message m = message_of(message, job);
        return stitchgcm_open(&key_, &m) == STITCHGCM_OK;
      });
    }
    if (operation == Operation::key_setup) {
      return job.each_key(key_bytes_, count, [&](std::span<const std::uint8_t> key) {
        return stitchgcm_key_init_for(&key_, backend_.name, key.data(), key.size()) == STITCHGCM_OK;
      });
    }
    run_routine(backend_.routines[key_index(key_bytes_)], key_.context, operation, job, count);
    return 0;
  }

 private:
  const stitchgcm_backend& backend_;
  stitchgcm_key key_{};
  std::size_t key_bytes_ = 0;
};

class DirectVariant : public Contender {
 public:
  explicit DirectVariant(const Variant& variant)
      : Contender(variant_name(variant),
                  fmt::format("variant {} of {}, called directly", variant.name, variant.backend)),
        variant_(variant) {}

  bool supports(Operation) const override { return true; }

  void set_key(std::span<const std::uint8_t> key, std::size_t) override {
    key_bytes_ = key.size();
    routines_ = &variant_.routines[key_index(key.size())];
    init(key);
  }

  std::size_t run(Operation operation, Job& job, std::size_t count) override {
    if (operation == Operation::seal) {
      return job.each_message(operation, count, [&](const Message& message) {
        const stitchgcm_message m = message_of(message, job);
        routines_->seal(&context_, &m);
        return true;
      });
    }
    if (operation == Operation::open) {
      return job.each_message(operation, count, [&](const Message& message) {
        const stitchgcm_message m = message_of(message, job);
        return routines_->open(&context_, &m) == 1;
      });
    }
    if (operation == Operation::key_setup) {
      return job.each_key(key_bytes_, count, [&](std::span<const std::uint8_t> key) {
        init(key);
        return true;
      });
    }
    run_routine(*routines_, context_, operation, job, count);
    return 0;
  }

 private:
  // What the runtime does around the routine.
  void init(std::span<const std::uint8_t> key) {
    context_ = {};
    context_.rounds = static_cast<std::uint32_t>(key.size() / 4 + 6);
    context_.form = 1;
    routines_->init(&context_, key.data());
  }

  const Variant& variant_;
  const stitchgcm_routines* routines_ = nullptr;
  stitchgcm_context context_{};
  std::size_t key_bytes_ = 0;
};

}  // namespace

std::string variant_name(const Variant& variant) {
  const auto same = [&](const Variant& other) { return other.name == variant.name; };
  const auto with_this_name = std::count_if(variants().begin(), variants().end(), same);
  return with_this_name > 1 ? fmt::format("{}:{}", variant.name, variant.backend) : std::string(variant.name);
}

std::unique_ptr<Contender> make_backend(std::string_view name) {
  const std::span<const stitchgcm_backend> backends(stitchgcm_backends, stitchgcm_backends_count);
  std::string names;
  for (const stitchgcm_backend& backend : backends) {
    if (backend.name == name) {
      if (stitchgcm_backend_available(backend.name) != 1) {
        throw Unavailable(fmt::format("this CPU cannot run the backend {}", name));
      }
      return std::make_unique<Backend>(backend);
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", backend.name);
  }
  for (const Variant& variant : variants()) {
    if (variant_name(variant) == name) return make_variant(variant);
    names += fmt::format(", {}", variant_name(variant));
  }
  throw Unavailable(fmt::format("no backend '{}' in this build; there are: {}", name, names));
}

std::unique_ptr<Contender> make_variant(const Variant& variant) {
  if (stitchgcm_backend_available(std::string(variant.backend).c_str()) != 1) {
    throw Unavailable(fmt::format("this CPU or this build lacks the backend {} of which {} is a variant",
                                  variant.backend, variant_name(variant)));
  }
  return std::make_unique<DirectVariant>(variant);
}

}  // namespace stitchgcm::bench
