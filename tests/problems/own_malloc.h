// Counts allocations: malloc and its kin are interposed. To be included in one file of a test program. Operator new
// would not do, it sees neither Eigen nor KLU.
#pragma once
#include <cerrno>
#include <cstdlib>

#include "tests/problems/sanitized.h"

#if defined(__GLIBC__) && !TRAMMEL_SANITIZED
#define TRAMMEL_OWN_MALLOC 1
#else
#define TRAMMEL_OWN_MALLOC 0
#endif

namespace {
bool counting = false;
long calls = 0;  // while counting
}  // namespace

#if TRAMMEL_OWN_MALLOC
// glibc's own functions under their other names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) noexcept {
  if (counting) ++calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  if (counting) ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  if (counting) ++calls;
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  if (counting) ++calls;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (counting) ++calls;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  if (counting) ++calls;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) noexcept {
  if (counting && block != nullptr) ++calls;
  __libc_free(block);
}
}
#endif
