#include "app/graph.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "trammel/elements/registry.h"
#include "trammel/write/output_path.h"

extern char** environ;

namespace trammel {
namespace {

std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

// Two lines in a node or beside an edge.
std::string dot_label(const std::string& first, const std::string& second) {
  std::string text = dot_string(first);
  text.pop_back();
  return text + "\\n" + dot_string(second).substr(1);
}

std::string node_name(int body) {
  if (body == ground) return "ground";
  std::string name = "b";
  name += std::to_string(body);
  return name;
}

// The bodies an item's first two frames are on: forces may look at more. Of a coupling of joints its first two wheels.
std::array<int, 2> ends(const Model& model, const Item& item) {
  const ElementDescription* joint = find_element(Category::joint, item.type);
  const bool coupling = joint != nullptr && joint->attachment == Attachment::joints;
  const auto body = [&](std::size_t i) {
    return item.frames.size() > i ? model.frames[static_cast<std::size_t>(item.frames[i])].body : ground;
  };
  return coupling ? std::array<int, 2>{body(1), body(3)} : std::array<int, 2>{body(0), body(1)};
}

[[noreturn]] void cannot_draw(const std::string& path, const std::string& why, const std::string& hint) {
  throw Failure({Severity::error, "cannot-draw", "the graph '" + path + "' cannot be drawn: " + why, hint, {}},
                ExitCode::cannot_write);
}

}  // namespace

std::string topology_dot(const Model& model) {
  std::string out = "graph " + dot_string(model.title.empty() ? "mechanism" : model.title) + " {\n";
  out += "  label=" + dot_string(model.title) + "; labelloc=t; fontname=\"sans-serif\"; nodesep=0.5; ranksep=0.7;\n";
  out += "  node [fontname=\"sans-serif\", shape=ellipse, style=filled, fillcolor=\"#e8eef7\", color=\"#4a6a9a\"];\n";
  out += "  edge [fontname=\"sans-serif\", fontsize=10, color=\"#404040\"];\n";
  out += "  ground [shape=box, fillcolor=\"#dddddd\", color=\"#606060\", label=\"ground\"];\n";
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const std::string kind = body.kind == Body{}.kind ? "" : body.kind;
    out += "  " + node_name(static_cast<int>(b)) +
           " [label=" + (kind.empty() ? dot_string(body.name) : dot_label(body.name, kind)) + "];\n";
  }
  const auto edge = [&](const Item& item, const std::string& what, const char* style) {
    const auto [a, b] = ends(model, item);
    out += "  " + node_name(a) + " -- " + node_name(b) + " [label=" + dot_label(item.name, what) + style + "];\n";
  };
  for (const Item& joint : model.joints) edge(joint, joint.type, "");
  for (const Item& motion : model.motions) edge(motion, motion.type + " (motion)", ", style=bold, color=\"#b04020\"");
  for (const Item& force : model.forces) {
    edge(force, force.type, ", style=dashed, color=\"#308050\", constraint=false");
  }
  return out + "}\n";
}

void draw_topology(const Model& model, const std::string& path) {
  const std::string dot = topology_dot(model), ending = std::filesystem::path(path).extension().string();
  if (ending == ".dot") {
    write_whole_file(path, std::string(graph_magic) + "1\n" + dot, OutputKind::graph);
    return;
  }
  if (ending != ".png" && ending != ".svg") {
    throw Failure({Severity::error,
                   "bad-usage",
                   "a graph is written as .png, .svg or .dot, not as '" + path + "'",
                   "change the end of the name",
                   {}},
                  ExitCode::bad_usage);
  }
  PendingFile pending(path, OutputKind::picture);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
  if (!input || std::fwrite(dot.data(), 1, dot.size(), input.get()) != dot.size() || std::fflush(input.get()) != 0) {
    cannot_draw(path, "no temporary file", "is the disk full?");
  }
  std::rewind(input.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
  std::string program = "dot", format = "-T" + ending.substr(1), to = "-o" + pending.path();
  std::array<char*, 4> arguments{program.data(), format.data(), to.data(), nullptr};
  pid_t child = 0;
  const int trouble = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (trouble == ENOENT) {
    cannot_draw(path, "the program 'dot' is not installed", "install it: apt install graphviz; or write a .dot file");
  }
  if (trouble != 0) cannot_draw(path, std::strerror(trouble), "write a .dot file instead");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) cannot_draw(path, "dot failed", "see its message above");
  pending.publish();
}

}  // namespace trammel
