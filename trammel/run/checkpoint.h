// Checkpoints: the complete state of a run in a file, with what is needed to go on in a new process to the same bits:
// which model with which changes, where its result goes and how many rows it holds.
//
//   trammel-checkpoint 1 \n  length of the description \n  description (JSON) \n  state  sha256 of all before (64
//   digits)
//
// It is written beside its place and renamed, so that a kill leaves the earlier one or the new one, never a half.
#pragma once
#include <cstdint>
#include <string>

#include "trammel/base/types.h"
#include "trammel/run/load_model.h"

namespace trammel {

struct Checkpoint {
  std::string version;      // of the program
  std::string model_file;   // absolute
  std::string fingerprint;  // of the model, method and settings: Simulation::fingerprint
  ModelChanges changes;
  std::string result, csv;  // absolute; csv may be empty
  // Where the run saves itself (absolute; empty: it was not asked to) and how often, as --checkpoint-every writes it.
  std::string checkpoint, checkpoint_every;
  double t = 0, end = 0;
  Bytes state;
};

// Throws Failure (cannot_write); an earlier checkpoint of that name is then left as it was.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
// Throws Failure (bad_usage) for anything that is not a whole checkpoint of this program's version.
Checkpoint read_checkpoint(const std::string& path);

// Everything in a model that is computed with, as text: numbers by their bits, nothing about places in files.
std::string model_digest(const Model& model);

}  // namespace trammel
