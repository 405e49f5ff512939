# SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Debian 12's packages that the build and the tests need, and how they get onto the machine. Sourced after common.sh.

packages=(
  g++ gcc binutils cmake ninja-build # the build
  clang                              # second assembler for the emitted text, second compiler for everything
  libxbyak-dev libzydis-dev libzycore-dev libfmt-dev libcli11-dev # the generator
  doctest-dev nlohmann-json3-dev     # the tests
  libssl-dev                         # a second opinion for the tests, a peer for the benchmark
  python3-cryptography-vectors       # NIST's CAVP files
  clang-format                       # scripts/format
)

# Only the benchmark asks for these, and only where Debian has them for the architecture.
optional_packages=(libipsec-mb-dev)

# Names those of its arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# Runs apt-get as root. Nothing here may wait for an answer: there may be nobody to give it.
apt_get() {
  local -a as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root, and there is no sudo" "as root: apt-get install ${missing[*]}"
    as_root=(sudo)
    [ -t 2 ] || as_root=(sudo -n) # no terminal: fail at once instead of asking for a password
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
    "$@" </dev/null
}

# Installs what is missing; does not touch apt when nothing is.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not Debian: going on with what is installed. On Debian 12 it would be"
    say "${packages[*]}"
    return
  fi
  local -a missing optional
  mapfile -t missing < <(missing_packages "${packages[@]}")
  mapfile -t optional < <(missing_packages "${optional_packages[@]}")
  if [ ${#missing[@]} -eq 0 ] && [ ${#optional[@]} -eq 0 ]; then
    say "all ${#packages[@]} are here"
    return
  fi
  say "missing: ${missing[*]} ${optional[*]}"
  apt_get update || die "apt-get update failed, see above" "by hand: apt-get install ${missing[*]} ${optional[*]}"
  if [ ${#optional[@]} -gt 0 ] && ! apt-cache show "${optional[@]}" >/dev/null 2>&1; then
    say "not in this Debian, and left out: ${optional[*]}"
    optional=()
  fi
  [ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || return 0
  apt_get install --no-install-recommends "${missing[@]}" "${optional[@]}" ||
    die "apt-get install failed, see above" "by hand: apt-get install ${missing[*]} ${optional[*]}"
}
