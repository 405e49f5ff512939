// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Buffers that overlap: right where stitchgcm.h allows it, refused before any write where it does not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/messages.hpp"

namespace tests {
namespace {

constexpr std::ptrdiff_t reach = 4096;

using Call = stitchgcm_status (*)(const stitchgcm_key*, const stitchgcm_message*);

// out = in + d inside one arena, for each d: right and the rest of the arena intact, or refused and all of it intact.
void slide_out(const Backend& backend, Tally& tally, const Key& key, const OpenSslGcm& openssl, std::size_t bytes,
               bool opens) {
  Random random(0x12 + bytes);
  const Bytes iv = random.bytes(12);
  const Bytes text = random.bytes(bytes);
  const Sealed sealed = openssl.seal(iv, {}, text);
  const View source = opens ? View(sealed.text) : View(text);
  const View result = opens ? View(text) : View(sealed.text);
  const Call call = opens ? stitchgcm_open : stitchgcm_seal;
  constexpr std::size_t in_at = reach;
  const Bytes fresh = [&] {
    Bytes arena = random.bytes(2 * reach + bytes);
    std::copy(source.begin(), source.end(), arena.begin() + in_at);
    return arena;
  }();
  Bytes arena = fresh;
  const auto reset = [&] { std::copy(fresh.begin(), fresh.end(), arena.begin()); };
  Bytes want;
  for (std::ptrdiff_t d = -reach; d <= reach; ++d) {
    const auto out_at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(in_at) + d);
    const bool allowed = d == 0 || static_cast<std::size_t>(std::abs(d)) >= bytes;
    Block tag = opens ? sealed.tag : Block{};
    const stitchgcm_message message =
        message_of(Header{iv, {}}, View(arena).subspan(in_at, bytes), arena.data() + out_at, tag.data());
    const stitchgcm_status status = call(key.get(), &message);
    want = fresh;
    if (allowed) std::copy(result.begin(), result.end(), want.begin() + static_cast<std::ptrdiff_t>(out_at));
    const bool status_right = status == (allowed ? STITCHGCM_OK : STITCHGCM_ERROR_OVERLAP);
    const bool tag_right = equal(tag, allowed || opens ? sealed.tag : Block{});
    tally.expect(status_right && tag_right && equal(arena, want), [&] {
      return fmt::format(
          "{} aes{} {} of {} bytes, out = in + {}: status \"{}\"; memory around in and out differs {}; {}",
          backend.name, 8 * key.bytes(), opens ? "open" : "seal", bytes, d, stitchgcm_status_text(status),
          difference_text(arena, want), tag_right ? "tag right" : "tag wrong");
    });
    reset();
  }
}

TEST_CASE("overlap: out = in + d is right for d = 0 and where they are apart, and refused before any write elsewhere") {
  for_each_backend("out = in + d", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      for (const std::size_t bytes : {0, 1, 15, 16, 130, 1000, 4096}) {
        for (const bool opens : {false, true}) slide_out(backend, tally, key, openssl, bytes, opens);
      }
    }
  });
}

// A message whose tag lies somewhere in or around the output.
void slide_tag(const Backend& backend, Tally& tally, const Key& key, const OpenSslGcm& openssl, bool opens) {
  constexpr std::size_t bytes = 100;
  constexpr std::size_t room = 64;
  Random random(0x34);
  const Bytes iv = random.bytes(12);
  const Bytes text = random.bytes(bytes);
  const Sealed sealed = openssl.seal(iv, {}, text);
  for (std::size_t tag_at = room - 20; tag_at <= room + bytes + 4; ++tag_at) {
    const bool allowed = tag_at + 16 <= room || tag_at >= room + bytes;
    Bytes arena = random.bytes(room + bytes + room);
    if (opens) std::copy(sealed.tag.begin(), sealed.tag.end(), arena.begin() + static_cast<std::ptrdiff_t>(tag_at));
    const Bytes fresh = arena;
    const stitchgcm_message message =
        message_of(Header{iv, {}}, opens ? View(sealed.text) : View(text), arena.data() + room, arena.data() + tag_at);
    const stitchgcm_status status = opens ? stitchgcm_open(key.get(), &message) : stitchgcm_seal(key.get(), &message);
    Bytes want = fresh;
    if (allowed) {
      const View result = opens ? View(text) : View(sealed.text);
      std::copy(result.begin(), result.end(), want.begin() + room);
      std::copy(sealed.tag.begin(), sealed.tag.end(), want.begin() + static_cast<std::ptrdiff_t>(tag_at));
    }
    tally.expect(status == (allowed ? STITCHGCM_OK : STITCHGCM_ERROR_OVERLAP) && equal(arena, want), [&] {
      return fmt::format("{} aes{} {} of {} bytes, tag = out + {}: status \"{}\"; memory differs {}", backend.name,
                         8 * key.bytes(), opens ? "open" : "seal", bytes,
                         static_cast<std::ptrdiff_t>(tag_at) - static_cast<std::ptrdiff_t>(room),
                         stitchgcm_status_text(status), difference_text(arena, want));
    });
  }
}

TEST_CASE("overlap: a tag that shares a byte with the output is refused before any write") {
  for_each_backend("tag in out", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      for (const bool opens : {false, true}) slide_tag(backend, tally, key, openssl, opens);
    }
  });
}

// What a call reads until its end, and so may not write to.
enum class Object { key, message };
enum class Writes { out, tag };

// The output or the tag from just before the key or the message to just behind it: only the two ends are allowed.
void slide_over(const Backend& backend, Tally& tally, View key_value, Object object, Writes writes) {
  constexpr std::size_t text_bytes = 64;
  const std::size_t written = writes == Writes::out ? text_bytes : 16;
  const std::size_t object_bytes = object == Object::key ? sizeof(stitchgcm_key) : sizeof(stitchgcm_message);
  const Bytes iv = iv12();
  const Bytes text = pattern(text_bytes);
  Bytes out(text_bytes);
  Block tag{};
  stitchgcm_key key{};
  REQUIRE(stitchgcm_key_init_for(&key, backend.name.c_str(), key_value.data(), key_value.size()) == STITCHGCM_OK);
  Bytes arena(text_bytes + object_bytes + text_bytes);
  std::uint8_t* const place = arena.data() + text_bytes;
  for (std::size_t at = text_bytes - written; at <= text_bytes + object_bytes; ++at) {
    const bool allowed = at == text_bytes - written || at == text_bytes + object_bytes;
    for (const Call call : {Call{stitchgcm_seal}, Call{stitchgcm_open}}) {
      stitchgcm_message message = message_of(Header{iv, {}}, text, out.data(), tag.data());
      (writes == Writes::out ? message.out : message.tag) = arena.data() + at;
      if (object == Object::key) {
        std::memcpy(place, &key, sizeof key);
      } else {
        std::memcpy(place, &message, sizeof message);
      }
      const Bytes fresh = arena;
      const Bytes fresh_out = out;
      const Block fresh_tag = tag;
      const stitchgcm_status status =
          call(object == Object::key ? reinterpret_cast<const stitchgcm_key*>(place) : &key,
               object == Object::message ? reinterpret_cast<const stitchgcm_message*>(place) : &message);
      const bool refused = status == STITCHGCM_ERROR_OVERLAP;
      const bool untouched = equal(arena, fresh) && equal(out, fresh_out) && equal(tag, fresh_tag);
      tally.expect(allowed ? !refused : refused && untouched, [&] {
        return fmt::format("{} aes{} {}: {} = {} + {}: status \"{}\", memory {}", backend.name, 8 * key_value.size(),
                           call == stitchgcm_seal ? "seal" : "open", writes == Writes::out ? "out" : "tag",
                           object == Object::key ? "key" : "message",
                           static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(text_bytes),
                           stitchgcm_status_text(status), untouched ? "untouched" : "WRITTEN");
      });
    }
  }
}

TEST_CASE("overlap: an output or a tag that shares a byte with the key or the message is refused before any write") {
  for_each_backend("written over key or message", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      for (const Object object : {Object::key, Object::message}) {
        for (const Writes writes : {Writes::out, Writes::tag}) {
          slide_over(backend, tally, counting_bytes(key_bytes), object, writes);
        }
      }
    }
  });
}

// IV and AAD at given places of the output (of random bytes before the call).
void run_header_in_out(const Backend& backend, Tally& tally, const Key& key, const OpenSslGcm& openssl,
                       std::size_t iv_at, std::size_t iv_bytes, std::size_t aad_at, std::size_t aad_bytes) {
  constexpr std::size_t bytes = 300;
  Random random(iv_at * 1000 + aad_at);
  const Bytes before = random.bytes(bytes);
  const Bytes text = random.bytes(bytes);
  const View iv = View(before).subspan(iv_at, iv_bytes);
  const View aad = View(before).subspan(aad_at, aad_bytes);
  const Sealed want = openssl.seal(iv, aad, text);
  for (const bool opens : {false, true}) {
    Bytes out = before;
    Block tag = opens ? want.tag : Block{};
    const Header header{View(out).subspan(iv_at, iv_bytes), View(out).subspan(aad_at, aad_bytes)};
    const stitchgcm_message message = message_of(header, opens ? View(want.text) : View(text), out.data(), tag.data());
    const stitchgcm_status status = opens ? stitchgcm_open(key.get(), &message) : stitchgcm_seal(key.get(), &message);
    const View result = opens ? View(text) : View(want.text);
    tally.expect(status == STITCHGCM_OK && equal(out, result) && equal(tag, want.tag), [&] {
      return fmt::format(
          "{} aes{} {}: iv of {} = out + {}, aad of {} = out + {}: status \"{}\", text differs {}, tag {}",
          backend.name, 8 * key.bytes(), opens ? "open" : "seal", iv_bytes, iv_at, aad_bytes, aad_at,
          stitchgcm_status_text(status), difference_text(out, result), equal(tag, want.tag) ? "right" : "wrong");
    });
  }
}

TEST_CASE("overlap: IV and AAD may lie in the output, because they are read first") {
  for_each_backend("iv and aad in out", [](const Backend& backend, Tally& tally) {
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      for (const std::size_t iv_bytes : {12, 16, 40}) {
        for (const std::size_t iv_at : {0, 1, 120, 128, 250}) {
          for (const std::size_t aad_at : {0, 3, 16, 113, 255}) {
            for (const std::size_t aad_bytes : {1, 16, 45}) {
              run_header_in_out(backend, tally, key, openssl, iv_at, iv_bytes, aad_at, aad_bytes);
            }
          }
        }
      }
    }
  });
}

TEST_CASE("overlap: the AAD may be part of a text that is sealed or opened in place") {
  for_each_backend("aad in a text in place", [](const Backend& backend, Tally& tally) {
    Random random(0x77);
    for (const std::size_t key_bytes : key_lengths) {
      const Bytes key_value = counting_bytes(key_bytes);
      const Key key(backend, key_value);
      const OpenSslGcm openssl(key_value);
      const Bytes iv = random.bytes(12);
      for (const std::size_t bytes : {40, 128, 300}) {
        const Bytes text = random.bytes(bytes);
        const Bytes sealed = openssl.seal(iv, {}, text).text;  // the ciphertext does not depend on the AAD
        for (const std::size_t aad_at : {0, 5, 20}) {
          for (const bool opens : {false, true}) {
            const View source = opens ? View(sealed) : View(text);
            const View result = opens ? View(text) : View(sealed);
            const Block want_tag = openssl.seal(iv, source.subspan(aad_at, 20), text).tag;
            Bytes buffer(source.begin(), source.end());
            Block tag = opens ? want_tag : Block{};
            const Header header{iv, View(buffer).subspan(aad_at, 20)};
            const stitchgcm_message message = message_of(header, buffer, buffer.data(), tag.data());
            const stitchgcm_status status =
                opens ? stitchgcm_open(key.get(), &message) : stitchgcm_seal(key.get(), &message);
            tally.expect(status == STITCHGCM_OK && equal(buffer, result) && equal(tag, want_tag), [&] {
              return fmt::format("{}, aad = text + {}: status \"{}\", text differs {}, tag differs {}",
                                 case_text(key, opens ? "open" : "seal", Place::in_place, header, bytes), aad_at,
                                 stitchgcm_status_text(status), difference_text(buffer, result),
                                 difference_text(tag, want_tag));
            });
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace tests
