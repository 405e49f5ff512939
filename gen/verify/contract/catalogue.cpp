// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Which routine promises what: the list of all contracts.
#include <fmt/format.h>

#include "verify/contract/batches.hpp"
#include "verify/contract/key.hpp"
#include "verify/contract/message.hpp"
#include "verify/contract/whole_blocks.hpp"

namespace stitchgcm::verify {
namespace {

struct Key {
  const char* name;
  int rounds;
};
constexpr Key kKeys[] = {{"aes128", 10}, {"aes192", 12}, {"aes256", 14}};

}  // namespace

std::vector<std::unique_ptr<Contract>> contracts(const std::string& prefix, const std::string& backend) {
  const auto symbol = [&](const std::string& name) { return fmt::format("{}_{}_{}", prefix, name, backend); };
  std::vector<std::unique_ptr<Contract>> all;
  for (const Key& k : kKeys) all.push_back(init_contract(symbol(fmt::format("init_{}", k.name)), k.rounds));
  all.push_back(powers_contract(symbol("powers")));
  all.push_back(message_contract(symbol("seal"), Direction::encrypt));
  all.push_back(message_contract(symbol("open"), Direction::decrypt));
  all.push_back(blocks_contract(symbol("encrypt_blocks"), Direction::encrypt));
  all.push_back(blocks_contract(symbol("decrypt_blocks"), Direction::decrypt));
  for (const Direction d : {Direction::encrypt, Direction::decrypt}) {
    const char* direction = d == Direction::encrypt ? "encrypt" : "decrypt";
    for (const Key& k : kKeys) {
      all.push_back(batches_contract(symbol(fmt::format("{}_batches_{}", direction, k.name)), d, k.rounds));
    }
  }
  all.push_back(ctr32_contract(symbol("ctr32")));
  all.push_back(ghash_contract(symbol("ghash")));
  return all;
}

}  // namespace stitchgcm::verify
