// What a viewer must know of a model besides its shapes: which bodies and elements there are, where the elements attach
// in each body's own axes, which way gravity points, and what each column of the result means.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

// Entries for the provenance of a result. "gravity" is [x, y, z]; the others are JSON arrays cut into pieces of at most
// about `most_bytes`, which fit into an attribute, under "bodies.1", "bodies.2" and so on:
//   bodies    {"name", "kind", "mass", "center_of_mass" (in body axes), "modes" (how many, of one that bends)}
//   elements  {"name", "of": "joint"|"motion"|"force", "type", "attachment", "frames": [{"body", "position",
//              "quaternion" (w, x, y, z)}], "numbers": {its fields that are numbers, vectors, short lists of
//              numbers, or yes or no: "stiffness", "teeth", "internal", ...}, "words": {those that choose among words:
//              "shape_b": "sphere", ...}}
//   signals   {"of", "name", "has": [[quantity, axes, body it acts on]]}, one for each element, in the order of the
//              recorder's output table. "xyz" are three columns, "" is one, and so is a number, the axis of one of
//              many ("12" of mode 12); the body only where there is a choice.
//   switches  {"name", "strikes", "modes" (names, of one that ends a mode)}, in the order of their numbers in the table
//   of
//              events
//   flexible  {"body", "of": "points"|"segments"|"radii"|"mode"|"round"|"stress", "step", "values"}, several of a body
//              one after the other: integers in units of the step. Points are x, y, z in body axes, segments two
//              numbers of points each, a radius belongs to each segment, and a mode moves each point by x, y, z for a
//              unit of its coordinate; there is one for each, in their order. Where stress is watched, a mode also
//              makes ten stresses of each segment, Pa: at its first end those of tension, of torsion at the sides that
//              bending about y and about z pulls, of bending about y and about z, then the same at its second end;
//              round is 1 for each segment of a round section. Of bodies with at most 200,000 such numbers.
//   meshes    {"file" (as in the shapes), "of": "points"|"triangles", "values"}, several of a mesh one after the other:
//              integers, points as "origin" + "step" * (x, y, z) in the numbers of the file, triangles as the numbers
//              of their points from 0. Only of files in the model's folder or below it, closed, and at most 20 MB.
std::vector<std::pair<std::string, std::string>> drawing_as_json(const Equations& equations,
                                                                 std::size_t most_bytes = 30000);

}  // namespace trammel
