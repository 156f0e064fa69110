// Coupling files: YAML -> participants, gluing joints and settings. The format is described in docs/guide/coupling.md.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trammel/couple/channel.h"
#include "trammel/couple/coupling.h"
#include "trammel/run/load_model.h"

namespace trammel {

struct ParticipantSpec {
  std::string name;
  std::string model;                 // its file; or
  std::vector<std::string> bodies;   // of the whole model: the part of it that these are; or
  std::vector<std::string> command;  // a program that speaks the protocol
  ModelChanges changes;
  Location where;
};

struct CouplingSpec {
  std::string file, title, text;
  std::string whole;  // the mechanism in one piece; empty: not known
  ModelChanges whole_changes;
  std::vector<std::string> cut;  // joints of the whole at which it is taken apart
  std::vector<ParticipantSpec> participants;
  std::vector<InterfaceFrame> frames;
  std::vector<Item> joints;  // on `frames`; those of `cut` come when the participants are made
  CouplingSettings settings;
  Location where;
};

// What the command line changes.
struct CouplingChanges {
  std::vector<std::string> set{};      // "NAME=VALUE" of every participant that has it, or "PARTICIPANT.NAME=VALUE"
  std::vector<std::string> options{};  // keys of the section `coupling`, "scheme=linear"
};

CouplingSpec read_coupling(const std::string& path, const CouplingChanges& changes = {});

using MakeSink = std::function<std::unique_ptr<TrajectorySink>(const std::string& participant)>;

// The models of all participants with their changes, for model files and parts of the whole; completes `spec` with
// frames and joints where it is cut.
std::vector<Model> participant_models(CouplingSpec& spec);
// One participant in this process, or the program that it is.
std::unique_ptr<Participant> make_participant(const CouplingSpec& spec, int index, Model model, const MakeSink& sink);
// `elsewhere` gives the line to a participant that another process has, or null; both may be empty.
std::unique_ptr<Coupling> make_coupling(CouplingSpec spec, const MakeSink& sink = {},
                                        const std::function<std::unique_ptr<Channel>(int index)>& elsewhere = {});

}  // namespace trammel
