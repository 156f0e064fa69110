#include "studies/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "studies/printed.h"

namespace trammel {
namespace {

constexpr const char* mark = "<!-- What follows is made by `trammel study --all --pages docs/studies`. -->";

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

// Four digits, or as many as a bound needs.
std::string page_number(const std::optional<double>& value, int digits = 4) {
  if (!value) return "";
  const bool whole = *value == std::round(*value) && std::abs(*value) < 1e9;
  return whole ? fmt::format("{:.0f}", *value) : fmt::format("{:.{}g}", *value, digits);
}

int digits_of(const Row& row) {
  if (row.relation != Relation::within || !row.target || *row.target == 0 || row.tolerance.value_or(0) <= 0) return 4;
  return std::clamp(static_cast<int>(std::ceil(std::log10(std::abs(*row.target) / *row.tolerance))) + 2, 4, 12);
}

const char* page_verdict(const Row& row) {
  switch (row.verdict()) {
    case RowVerdict::met: return row.tuned.empty() ? "ok" : "ok by tuning";
    case RowVerdict::measured: return "";
    case RowVerdict::missed_for_reason: return "missed";
    case RowVerdict::missed: return "**MISSED**";
    case RowVerdict::reason_gone: return "**met**";
  }
  return "";
}

void table_of(const std::vector<const Row*>& rows, std::string& out) {
  const auto any = [&](auto&& has) {
    return std::any_of(rows.begin(), rows.end(), [&](const Row* r) { return has(*r); });
  };
  const bool printed = any([](const Row&r) { return r.printed.has_value(); }),
             corrected = any([](const Row&r) { return r.corrected.has_value(); }),
             own = any([](const Row&r) { return r.own.has_value(); });
  out += "| | quantity |";
  if (printed) out += " printed |";
  if (corrected) out += " corrected |";
  if (own) out += " own |";
  out += " ours | demand | |\n|---|---|";
  for (int i = 0; i < 3 + printed + corrected + own; ++i) out += "---|";
  out += "\n";
  std::vector<std::string> notes;
  const auto footnote = [&](const std::string& text) {
    const auto found = std::find(notes.begin(), notes.end(), text);
    const auto number = found - notes.begin() + 1;
    if (found == notes.end()) notes.push_back(text);
    return fmt::format(" ({})", number);
  };
  std::string last;
  for (const Row* r : rows) {
    const int digits = digits_of(*r);
    out += "| " + (r->row == last ? std::string() : cell(r->row)) + " | " + cell(r->quantity) + " |";
    last = r->row;
    if (printed) out += " " + cell(printed_word(*r)) + page_number(r->printed, std::max(digits, 6)) + " |";
    if (corrected)
      out += " " + page_number(r->corrected, std::max(digits, 6)) +
             (r->correction.empty() ? "" : footnote(r->correction)) + " |";
    if (own) out += " " + page_number(r->own) + (r->origin.empty() ? "" : footnote(r->origin)) + " |";
    out += " " + page_number(r->ours, digits) + " | " + cell(demand_text(*r)) +
           (r->reason.empty() ? "" : footnote((r->demands() ? "" : "no demand: ") + r->reason)) + " | " +
           page_verdict(*r) + (r->missed.empty() ? "" : footnote("missed: " + r->missed)) +
           (r->tuned.empty() ? "" : footnote("tuned: " + r->tuned)) +
           (r->note.empty() || r->ok ? "" : footnote(r->note)) + " |\n";
  }
  if (!notes.empty()) out += "\n";
  for (std::size_t i = 0; i < notes.size(); ++i) out += fmt::format("({}) {}  \n", i + 1, cell(notes[i]));
}

// Rows that a page shows: those with a demand, and those about a printed number.
bool shown(const Row& row) { return row.demands() || !row.ids.empty() || row.verdict() == RowVerdict::missed; }

std::vector<PagePicture> pictures_of(const std::string& study, const std::filesystem::path& pictures,
                                     const std::filesystem::path& images) {
  // Those whose name begins with the study's; elements have pages of their own, of gluing a few are enough.
  std::vector<PagePicture> out;
  std::string stem = study;
  std::replace(stem.begin(), stem.end(), '-', '_');
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(pictures)) {
    for (const auto& entry : std::filesystem::directory_iterator(pictures)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".png") continue;
      if (name == stem + ".png" || name.rfind(stem + "_", 0) == 0) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const std::string name = file.stem().string();
    if (study == "rn" && name.rfind("rn_large", 0) == 0) continue;
    std::filesystem::create_directories(images);
    std::filesystem::copy_file(file, images / file.filename(), std::filesystem::copy_options::overwrite_existing);
    std::string title = name;
    std::replace(title.begin(), title.end(), '_', ' ');
    out.push_back({title, "../images/" + images.filename().string() + "/" + file.filename().string()});
  }
  return out;
}

std::string printed_table(const std::vector<Row>& rows) {
  std::string out =
      "| source | printed | corrected | met | met by tuning | run with | missed for a reason | compared, no demand | "
      "missing for a reason | with `--full` only | open |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto line = [&](const std::string& name, const PrintedCounts& p) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, p.printed, p.corrected,
                       p.met, p.tuned, p.run_with, p.missed, p.not_demanded, p.missing, p.only_full, p.open);
  };
  for (const char* source : printed_sources) line(source, count_printed(rows, source));
  line("all", count_printed(rows, ""));
  return out;
}

// Why numbers of the list have no row: each reason with how many numbers it keeps out.
std::string missing_table() {
  std::map<std::string, std::map<std::string, int>> reasons;
  for (const PrintedNumber& n : printed_list()) {
    if (!n.missing.empty()) ++reasons[n.source][n.missing];
  }
  std::string out = "| source | numbers | why no row is about them |\n|---|---|---|\n";
  for (const auto& [source, list] : reasons) {
    for (const auto& [reason, count] : list) out += fmt::format("| {} | {} | {} |\n", source, count, cell(reason));
  }
  return out;
}

void write_page(const std::filesystem::path& file, const std::string& title, const std::string& made) {
  std::string text = read_text(file);
  if (text.empty()) text = "# " + title + "\n";
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.erase(at);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ofstream(file) << text << "\n\n" << mark << "\n\n" << made;
}

}  // namespace

std::string rows_page(const std::vector<Row>& rows, const std::vector<PagePicture>& images) {
  std::string out = "## Rows\n\n" + to_text(count_rows(rows)) + ".\n";
  for (const PagePicture& picture : images) out += "\n![" + picture.title + "](" + picture.path + ")\n";
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Row*>> tables;
  std::map<std::string, int> silent;
  for (const Row& row : rows) {
    if (tables.find(row.table) == tables.end()) order.push_back(row.table);
    std::vector<const Row*>& list = tables[row.table];
    if (shown(row))
      list.push_back(&row);
    else
      ++silent[row.reason];
  }
  for (const std::string& table : order) {
    if (tables[table].empty()) continue;
    out += "\n### " + cell(table) + "\n\n";
    table_of(tables[table], out);
  }
  if (!silent.empty()) {
    out +=
        "\n### Rows that demand nothing\n\nThey are printed by the command and not repeated here.\n\n| rows | why "
        "|\n|---|---|\n";
    for (const auto& [reason, count] : silent) out += fmt::format("| {} | {} |\n", count, cell(reason));
  }
  return out;
}

void write_pages(const std::vector<StudyResult>& results, const std::filesystem::path& pages,
                 const std::filesystem::path& pictures, const std::filesystem::path& images) {
  std::filesystem::create_directories(pages);
  std::vector<Row> all;
  std::string table =
      "| study | what it shows | rows | demand something | met | missed for a reason | MISSED | seconds | of a core "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  RowCounts sum;
  double seconds = 0, core_seconds = 0;
  for (const StudyResult& r : results) {
    const Study& study = find_study(r.name);
    write_page(pages / (r.name + ".md"), study.summary, rows_page(r.rows, pictures_of(r.name, pictures, images)));
    const RowCounts c = count_rows(r.rows);
    sum += c;
    seconds += r.seconds;
    core_seconds += r.core_seconds;
    table += fmt::format("| [{0}]({0}.md) | {1} | {2} | {3} | {4} | {5} | {6} | {7:.0f} | {8:.0f} |\n", r.name,
                         cell(study.summary), c.rows, c.demanded, c.met, c.missed_for_reason, c.missed + c.reason_gone,
                         r.seconds, r.core_seconds);
    all.insert(all.end(), r.rows.begin(), r.rows.end());
  }
  if (results.size() < study_registry().size()) return;  // the common page is about all of them
  table += fmt::format("| all | | {} | {} | {} | {} | {} | {:.0f} | {:.0f} |\n", sum.rows, sum.demanded, sum.met,
                       sum.missed_for_reason, sum.missed + sum.reason_gone, seconds, core_seconds);
  table += fmt::format("\nSeconds are by the clock, as many studies at once as there are cores, here {}.\n",
                       cores_of_this_machine());
  write_page(pages / "README.md", "Studies",
             "## Rows of all studies\n\n" + table + "\n## Printed numbers\n\n" + printed_table(all) +
                 "\n## Printed numbers without a row\n\n" + missing_table());
}

}  // namespace trammel
