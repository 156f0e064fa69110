#include "trammel/write/matrix_file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "trammel/base/numbers.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_handles.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

// How a dataset of these sizes is made: in chunks with checksums, if there is anything in it.
Hdf5Handle with_checksums(const std::vector<hsize_t>& sizes) {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  std::vector<hsize_t> chunk;
  for (const hsize_t size : sizes) {
    if (size == 0) return creation;
    chunk.push_back(std::min<hsize_t>(size, 1024));
  }
  if (H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data()) < 0 ||
      H5Pset_fletcher32(creation.id()) < 0)
    return {};
  return creation;
}

bool write_labels(std::int64_t group, const char* name, const std::vector<std::string>& labels) {
  std::size_t length = 1;
  for (const std::string& label : labels) length = std::max(length, label.size());
  std::string packed(length * std::max<std::size_t>(labels.size(), 1), '\0');
  for (std::size_t i = 0; i < labels.size(); ++i) std::copy(labels[i].begin(), labels[i].end(), &packed[i * length]);
  const Hdf5Handle type = hdf5_text_type(length);
  const hsize_t count = labels.size();
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Handle creation = with_checksums({count});
  const Hdf5Handle set(H5Dcreate2(group, name, type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                       H5Dclose);
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) >= 0;
}

bool write_matrix(std::int64_t file, const NamedMatrix& matrix) {
  const Hdf5Handle group(H5Gcreate2(file, matrix.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!group || !hdf5_write_text_attribute(group.id(), "text", matrix.text)) return false;
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> values = matrix.values;
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(values.rows()), static_cast<hsize_t>(values.cols())};
  const Hdf5Handle space(H5Screate_simple(2, size.data(), nullptr), H5Sclose);
  const Hdf5Handle creation = with_checksums({size[0], size[1]});
  const Hdf5Handle set(
      H5Dcreate2(group.id(), "data", H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose);
  if (!set) return false;
  if (values.size() > 0 && H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return false;
  return write_labels(group.id(), "rows", matrix.rows) && write_labels(group.id(), "columns", matrix.columns);
}

bool write_hdf5(const std::string& path, const std::vector<NamedMatrix>& matrices, const Provenance& provenance,
                const std::string& summary) {
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!file || !hdf5_write_text_attribute(file.id(), "format", hdf5_matrices_name)) return false;
  const Hdf5Handle group(H5Gcreate2(file.id(), "provenance", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  for (const auto& entry : provenance.entries) {
    if (!hdf5_write_text_attribute(group.id(), entry.first.c_str(), entry.second)) return false;
  }
  for (const NamedMatrix& matrix : matrices) {
    if (!write_matrix(file.id(), matrix)) return false;
  }
  const Hdf5Handle type = hdf5_text_type(summary.size()), space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle set(H5Dcreate2(file.id(), "summary", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
  const std::string text = summary.empty() ? std::string(1, '\0') : summary;
  return set && H5Dwrite(set.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) >= 0;
}

std::string matrices_csv(const std::vector<NamedMatrix>& matrices, const Provenance& provenance) {
  std::string out = std::string(matrices_magic) + "\n";
  for (const auto& entry : provenance.entries)
    out += "# provenance." + entry.first + ": " + csv_escape(entry.second) + "\n";
  for (const NamedMatrix& matrix : matrices) {
    out += "# matrix " + matrix.name + ": " + csv_escape(matrix.text) + "\n" + csv_field(matrix.name);
    for (const std::string& column : matrix.columns) out += "," + csv_field(column);
    out += "\n";
    for (Eigen::Index i = 0; i < matrix.values.rows(); ++i) {
      out += csv_field(matrix.rows[i]);
      for (Eigen::Index j = 0; j < matrix.values.cols(); ++j) out += "," + shortest(matrix.values(i, j));
      out += "\n";
    }
  }
  return out;
}

}  // namespace

void write_matrices(const std::string& path, const std::vector<NamedMatrix>& matrices, const Provenance& provenance,
                    const std::string& summary_json) {
  PendingFile pending(path, OutputKind::matrices);
  bool good = false;
  std::string why;
  if (std::filesystem::path(path).extension() == ".csv") {
    std::ofstream file(pending.path(), std::ios::binary);
    file << matrices_csv(matrices, provenance);
    file.close();
    good = static_cast<bool>(file);
    why = "the disk may be full";
  } else {
    const Hdf5Scope scope;
    good = write_hdf5(pending.path(), matrices, provenance, summary_json);
    if (!good) why = hdf5_reason();
  }
  if (!good) throw write_failure("cannot-write", "cannot write '" + path + "': " + why, "choose another place");
  pending.publish();
}

}  // namespace trammel
