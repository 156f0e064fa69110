// The topology of a mechanism as a graph: bodies are nodes, joints solid edges, forces dotted ones; a motion is named
// at the joint it drives.
#pragma once
#include <string>

#include "trammel/model/model.h"

namespace trammel {

// In the DOT language of Graphviz.
std::string topology_dot(const Model& model);

// To a .dot file, or drawn by Graphviz's program `dot` as .png or .svg. Throws Failure (cannot_write).
void draw_topology(const Model& model, const std::string& path);

}  // namespace trammel
