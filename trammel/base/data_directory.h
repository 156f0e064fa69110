// Where the model files and the data of the studies are.
#pragma once
#include <filesystem>

namespace trammel {

// The folder that holds models/ and studies/. In this order: the environment variable TRAMMEL_DATA; the folder that was
// installed together with the library, wherever the installation was moved since; the source tree of the build.
std::filesystem::path data_directory();

}  // namespace trammel
