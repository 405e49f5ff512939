// SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace stitchgcm::bench {
namespace {

// A column group belongs to one contender; in text, bars stand between groups.
struct Column {
  std::string head;
  bool starts_group;
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string nanoseconds(double ns) { return ns < 1000 ? fmt::format("{:.1f}", ns) : fmt::format("{:.0f}", ns); }

std::string per_byte(double cycles) {
  return cycles < 100 ? fmt::format("{:.3f}", cycles) : fmt::format("{:.0f}", cycles);
}

const Timing* first_measured(const CellResult& result) {
  const auto found = std::ranges::find_if(result.timings, &Timing::measured);
  return found == result.timings.end() ? nullptr : &*found;
}

bool has_bytes(const CellResult& result) { return result.cell.operation != Operation::key_setup; }

std::string unit(Operation operation) {
  if (operation == Operation::key_setup) return "key";
  return is_routine(operation) ? "call" : "message";
}

Table start_table(const CellResult& result, const Contenders& contenders, const TableStyle& style) {
  Table table;
  const Operation operation = result.cell.operation;
  table.title =
      fmt::format("{}: ns a {}; ratio to {}", result.cell.table(), unit(operation), contenders.front()->name());
  table.columns.push_back({has_bytes(result) ? "bytes" : "key", false});
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    // In Markdown nothing but the head tells whose column it is.
    const std::string& name = contenders[i]->name();
    const auto head = [&](std::string_view what) {
      return fmt::format("{}{}{}", style.markdown ? name : "", style.markdown ? " " : "", what);
    };
    const bool only_difference = i > 0 && style.difference;
    table.columns.push_back({style.markdown    ? head(only_difference ? "more ns" : "ns")
                             : only_difference ? name + " more"
                                               : name,
                             true});
    if (!style.difference) table.columns.push_back({head("median"), false});
    if (i == 0 && !style.difference && has_bytes(result)) {
      table.columns.push_back({head("cycles/B"), false});
      table.columns.push_back({head("GB/s"), false});
    }
    if (i > 0) table.columns.push_back({head("ratio"), false});
  }
  return table;
}

std::vector<std::string> make_row(const CellResult& result, const TableStyle& style) {
  std::vector<std::string> row{result.cell.row};
  const double bytes = result.cell.mean_bytes();
  const Timing& first = result.timings.front();
  for (std::size_t i = 0; i < result.timings.size(); ++i) {
    const Timing& timing = result.timings[i];
    const auto add = [&](bool known, const std::string& value) {
      row.push_back(timing.measured && known ? value : "-");
    };
    if (i > 0 && style.difference) {
      add(first.measured, fmt::format("{:+.1f}", timing.min_ns - first.min_ns));
    } else {
      add(true, nanoseconds(timing.min_ns));
    }
    if (!style.difference) add(true, nanoseconds(timing.median_ns));
    if (i == 0 && !style.difference && has_bytes(result)) {
      add(bytes > 0 && result.ghz > 0, per_byte(timing.min_ns * result.ghz / bytes));
      add(bytes > 0, fmt::format("{:.2f}", bytes / timing.min_ns));
    }
    if (i > 0) add(first.measured, fmt::format("{:.2f}", timing.min_ns / first.min_ns));
  }
  return row;
}

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = std::max<std::size_t>(6, table.columns[c].head.size());
    for (const auto& row : table.rows) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string out = table.title + "\n";
  const auto line = [&](auto&& field) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (c > 0) out += table.columns[c].starts_group ? " | " : "  ";
      out += fmt::format("{:>{}}", field(c), widths[c]);
    }
    out += "\n";
  };
  line([&](std::size_t c) { return table.columns[c].head; });
  for (const auto& row : table.rows) line([&](std::size_t c) { return row[c]; });
  return out + "\n";
}

std::string as_markdown(const Table& table) {
  std::string out = "### " + table.title + "\n\n";
  for (const Column& column : table.columns) out += "| " + column.head + " ";
  out += "|\n";
  for (std::size_t c = 0; c < table.columns.size(); ++c) out += "|---:";
  out += "|\n";
  for (const auto& row : table.rows) {
    for (const std::string& field : row) out += "| " + field + " ";
    out += "|\n";
  }
  return out + "\n";
}

// Names come from file names too.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string tables(std::span<const CellResult> results, const Contenders& contenders, const TableStyle& style) {
  std::string out;
  for (std::size_t i = 0; i < results.size();) {
    Table table = start_table(results[i], contenders, style);
    const std::string name = results[i].cell.table();
    for (; i < results.size() && results[i].cell.table() == name; ++i)
      table.rows.push_back(make_row(results[i], style));
    out += style.markdown ? as_markdown(table) : as_text(table);
  }
  return out;
}

std::string csv(std::span<const CellResult> results, const Contenders& contenders) {
  std::string out = "operation,key_bits,place,bytes,contender,min_ns,median_ns,cycles,cycles_per_byte,gb_per_s,ratio\n";
  for (const CellResult& result : results) {
    const Timing* first = first_measured(result);
    const double bytes = has_bytes(result) ? result.cell.mean_bytes() : 0;
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const Timing& t = result.timings[i];
      if (!t.measured) continue;
      const double cycles = t.min_ns * result.ghz;
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{:.3f},{:.3f},{:.2f},", text(result.cell.operation),
                     result.cell.bits, result.cell.place == Place::in ? "in" : "out", bytes,
                     csv_field(contenders[i]->name()), t.min_ns, t.median_ns, cycles);
      if (bytes > 0) fmt::format_to(std::back_inserter(out), "{:.4f},{:.4f}", cycles / bytes, bytes / t.min_ns);
      if (bytes <= 0) out += ",";
      fmt::format_to(std::back_inserter(out), ",{:.4f}\n", t.min_ns / first->min_ns);
    }
  }
  return out;
}

}  // namespace stitchgcm::bench
