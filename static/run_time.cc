// What the static program needs of a C++ run-time library: Debian's libstdc++ is made for another C
// library, and brings locales, streams and exceptions, of which the upgrader uses none. Where that
// library would throw, and nobody would catch, this one ends the program the same way: by SIGABRT.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
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
