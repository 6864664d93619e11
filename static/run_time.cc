// What the static program needs of a C++ run-time library: Debian's libstdc++ is made for another C
// library, and brings locales, streams and exceptions, of which the upgrader uses none. Where that
// library would throw, and nobody would catch, this one ends the program the same way: by SIGABRT.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

namespace {

// Small memory is kept for what needs as much next, by powers of two: musl gives each page back as
// soon as it is free, and to map it again takes longer than all else between an agent's exit and
// the next one's `activate`.
constexpr std::size_t least_bytes = 32;
constexpr std::size_t kept_bytes_max = 4'096;
constexpr std::size_t sizes = 8;              // from the least to the most that is kept
constexpr std::size_t supply_bytes = 16'384;  // taken from musl at a time

struct Unused {
  Unused* next;
};

Unused* unused[sizes];
alignas(std::max_align_t) char first_supply[supply_bytes];  // musl would have to ask the kernel
char* supply = first_supply;
std::size_t supplied = supply_bytes;

void* take_memory(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

std::size_t index_of(std::size_t size) {
  std::size_t index = 0;
  while (least_bytes << index < size)
    ++index;
  return index;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size > kept_bytes_max) return take_memory(size);
  const std::size_t index = index_of(size);
  if (Unused* const first = unused[index]) {
    unused[index] = first->next;
    return first;
  }
  const std::size_t bytes = least_bytes << index;
  if (supplied < bytes) {
    supply = static_cast<char*>(take_memory(supply_bytes));
    supplied = supply_bytes;
  }
  supplied -= bytes;
  return supply + supplied;
}

// The one without a size is not there, so that whatever would call it cannot be linked.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif
void operator delete(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return;
  if (size > kept_bytes_max) return std::free(memory);
  Unused*& first = unused[index_of(size)];
  first = new (memory) Unused{first};
}

extern "C" {

void __cxa_pure_virtual() {
  std::abort();
}

// How types tell what they derive from, which only a dynamic_cast or a catch would ask. cereal's
// archives have virtual functions, so their types refer to these; the three kinds of a class.
extern const void* const _ZTVN10__cxxabiv117__class_type_infoE[3] = {};
extern const void* const _ZTVN10__cxxabiv120__si_class_type_infoE[3] = {};
extern const void* const _ZTVN10__cxxabiv121__vmi_class_type_infoE[3] = {};
}

namespace std {

void __throw_length_error(const char*) {
  abort();
}
void __throw_logic_error(const char*) {
  abort();
}
void __throw_out_of_range_fmt(const char*, ...) {
  abort();
}
void __throw_bad_alloc() {
  abort();
}
void __throw_bad_array_new_length() {
  abort();
}
void __throw_bad_function_call() {
  abort();
}

// One copy of it, as the library would have.
template class basic_string<char>;

}  // namespace std
