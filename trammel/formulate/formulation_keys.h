// The keys of formulations, as in model files, each written once: code that asks for one cannot misspell it.
#pragma once
namespace trammel::formulation {

inline constexpr const char* index_3 = "index-3";
inline constexpr const char* stabilised_index_2 = "stabilised-index-2";
inline constexpr const char* all_coordinates = "all-coordinates";
inline constexpr const char* state_space = "state-space";
inline constexpr const char* joint_coordinates = "joint-coordinates";
inline constexpr const char* index_1 = "index-1";
inline constexpr const char* index_1_projected = "index-1-projected";
inline constexpr const char* index_1_baumgarte = "index-1-baumgarte";
inline constexpr const char* penalty = "penalty";
inline constexpr const char* augmented_lagrangian = "augmented-lagrangian";
inline constexpr const char* penalty_joints = "penalty-joints";
inline constexpr const char* index_2_relaxed = "index-2-relaxed";

}  // namespace trammel::formulation
