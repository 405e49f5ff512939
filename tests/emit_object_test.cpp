// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
// Emitted files as a linker sees them: symbols under a prefix, visibility, relocations, and the notes that say that the
// stack need not be executable and that branches are tracked. Two copies with two prefixes go into one program.
#include <doctest/doctest.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "emit/elf_object.hpp"
#include "emit/tree.hpp"
#include "gcm/routines.hpp"
#include "support/commands.hpp"

namespace tests {
namespace {

using namespace stitchgcm;
namespace fs = std::filesystem;

const std::vector<std::string> prefixes{"first", "second"};

/// All emitted files under two prefixes, and their objects.
class TwoCopies {
 public:
  static const TwoCopies& get() {
    static const TwoCopies copies;
    return copies;
  }

  struct Object {
    fs::path file;
    std::string prefix;
    std::set<std::string> symbols;  // that it should define
  };
  const std::vector<Object>& objects() const { return objects_; }
  const std::vector<assembly::SourceFile>& sources() const { return sources_; }
  const fs::path& folder() const { return folder_.path(); }

  /// The objects' file names after `command`.
  std::vector<std::string> with_objects(std::vector<std::string> command) const {
    for (const Object& o : objects_) command.push_back(o.file.string());
    return command;
  }

 private:
  TwoCopies() : sources_(gcm::aesni_avx({})) {
    for (const std::string& prefix : prefixes) {
      const emit::Tree tree = emit::generate(sources_, {.prefix = prefix}, {});
      emit::write(tree, folder_ / prefix);
      for (const assembly::SourceFile& f : sources_) {
        Object o{folder_ / (prefix + "_" + f.backend + "_" + f.name + ".o"), prefix, {}};
        for (const assembly::Routine& r : f.routines) o.symbols.insert(prefix + "_" + r.symbol);
        output_of({"gcc", "-c", (folder_ / prefix / f.backend / (f.name + ".S")).string(), "-o", o.file.string()});
        objects_.push_back(std::move(o));
      }
    }
  }

  TemporaryFolder folder_;
  std::vector<assembly::SourceFile> sources_;
  std::vector<Object> objects_;
};

/// Third column of nm's lines, or the last one.
std::set<std::string> symbols(const std::vector<std::string>& nm) {
  std::set<std::string> names;
  std::istringstream lines(output_of(nm));
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(line.rfind(' ') + 1));
  return names;
}

TEST_CASE("objects: each exports exactly its routines, every one under the prefix") {
  for (const TwoCopies::Object& o : TwoCopies::get().objects()) {
    CAPTURE(o.file.string());
    CHECK(symbols({"nm", "-g", "--defined-only", o.file.string()}) == o.symbols);
  }
}

TEST_CASE("objects: what they call is a routine under the same prefix") {
  std::map<std::string, std::set<std::string>> defined;
  for (const TwoCopies::Object& o : TwoCopies::get().objects())
    defined[o.prefix].insert(o.symbols.begin(), o.symbols.end());
  for (const TwoCopies::Object& o : TwoCopies::get().objects()) {
    for (const std::string& name : symbols({"nm", "-g", "--undefined-only", o.file.string()})) {
      CHECK_MESSAGE(defined.at(o.prefix).contains(name), o.file.string() << " needs " << name);
    }
  }
}

TEST_CASE("objects: routines begin with endbr64, are hidden, and refer to others relative to themselves") {
  constexpr std::array<std::uint8_t, 4> endbr64{0xf3, 0x0f, 0x1e, 0xfa};
  for (const TwoCopies::Object& o : TwoCopies::get().objects()) {
    const emit::ElfObject object = emit::read_elf_object(o.file);
    for (const emit::ElfFunction& f : object.functions) {
      CAPTURE(f.name);
      CHECK(f.hidden);
      CHECK(f.offset % 64 == 0);
      CHECK(std::equal(endbr64.begin(), endbr64.end(), object.text.begin() + static_cast<std::ptrdiff_t>(f.offset)));
    }
    for (const emit::ElfRelocation& r : object.relocations) {
      CHECK((r.type == R_X86_64_PC32 || r.type == R_X86_64_PLT32));
    }
  }
}

TEST_CASE("objects: the notes say that the stack is not executable, and that IBT and shadow stacks are supported") {
  for (const TwoCopies::Object& o : TwoCopies::get().objects()) {
    CAPTURE(o.file.string());
    CHECK(output_of({"readelf", "-n", o.file.string()}).find("x86 feature: IBT, SHSTK") != std::string::npos);
    std::istringstream sections(output_of({"readelf", "-SW", o.file.string()}));
    bool noted = false;
    for (std::string line; std::getline(sections, line);) {
      const std::size_t note = line.find(".note.GNU-stack");
      if (note == std::string::npos) continue;
      noted = true;
      CHECK_MESSAGE(line.find('X', note + 15) == std::string::npos, line);
    }
    CHECK_MESSAGE(noted, "no .note.GNU-stack");
  }
}

TEST_CASE("objects: two copies link into one library, without text relocations, of which nothing is exported") {
  const TwoCopies& copies = TwoCopies::get();
  const std::string library = (copies.folder() / "two.so").string();
  // cet-report: the linker itself fails on an object without the IBT and SHSTK note.
  output_of(copies.with_objects({"gcc", "-shared", "-nostdlib", "-Wl,-z,text", "-Wl,-z,defs", "-Wl,--fatal-warnings",
                                 "-Wl,-z,cet-report=error", "-o", library}));
  CHECK(output_of({"nm", "-D", "--defined-only", library}) == "");
  CHECK(output_of({"readelf", "-dW", library}).find("TEXTREL") == std::string::npos);
  const std::string segments = output_of({"readelf", "-lW", library});
  const std::size_t stack = segments.find("GNU_STACK");
  REQUIRE(stack != std::string::npos);
  CHECK_MESSAGE(segments.substr(stack, segments.find('\n', stack) - stack).find(" RW ") != std::string::npos, segments);
  CHECK_MESSAGE(segments.find("RWE") == std::string::npos, segments);
}

TEST_CASE("objects: a C program that includes both headers has both copies of every routine") {
  const TwoCopies& copies = TwoCopies::get();
  std::string program, list;
  std::size_t routines = 0;
  for (const std::string& prefix : prefixes) {
    program += fmt::format("#include \"{}_routines.h\"\n", prefix);
    for (const assembly::SourceFile& f : copies.sources()) {
      for (const assembly::Routine& r : f.routines) {
        if (r.prototype.result.empty()) continue;  // internal: not in the header
        list += fmt::format("  (any_function){}_{},\n", prefix, r.symbol);
        routines++;
      }
    }
  }
  REQUIRE(routines > 0);
  program +=
      "#include <stddef.h>\ntypedef void (*any_function)(void);\nstatic const any_function all[] = {\n" + list +
      "};\nint main(void) {\n  for (size_t a = 0; a < sizeof all / sizeof all[0]; a++) {\n"
      "    for (size_t b = 0; b < a; b++) {\n      if (all[a] == all[b]) return 1;\n    }\n  }\n  return 0;\n}\n";
  const fs::path source = copies.folder() / "main.c";
  write_file(source, program);
  const std::string layout = (fs::path(STITCHGCM_SOURCE_FOLDER) / "runtime").string();
  const std::string executable = (copies.folder() / "two").string();
  for (const std::vector<std::string>& compiler :
       {std::vector<std::string>{"gcc", "-std=c11"}, {"clang", "-std=c11"}, {"g++", "-std=c++20", "-x", "c++"}}) {
    std::vector<std::string> command = compiler;
    command.insert(command.end(),
                   {"-Wall", "-Wextra", "-Werror", "-pie", "-fPIE", "-Wl,-z,text", "-Wl,-z,defs", "-I", layout, "-I",
                    (copies.folder() / "first").string(), "-I", (copies.folder() / "second").string(), "-o", executable,
                    source.string(), "-x", "none"});
    output_of(copies.with_objects(command));
    CHECK_MESSAGE(run_command({executable}).code == 0, "two routines are one");
  }
}

}  // namespace
}  // namespace tests
