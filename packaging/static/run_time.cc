// The parts of a C++ run-time library that the static program needs. Debian's libstdc++ is made for
// glibc, and contains locales, streams and exceptions, which the upgrader does not use. If
// libstdc++ would throw an exception, these functions call abort(): the result is the same, since
// the upgrader catches none.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>

extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace {

// Makes the pages with relocated addresses read-only. musl relocates a static program, but leaves
// these pages writable, although the program's headers ask for protection. They contain nothing
// else: see layout.ld.
__attribute__((constructor)) void protect_relocated_pages() {
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(base + __ehdr_start.e_phoff);
  const auto page_mask = static_cast<std::uintptr_t>(getpagesize()) - 1;
  for (std::size_t i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (headers[i].p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t begin = base + headers[i].p_vaddr;
    const std::uintptr_t end = begin + headers[i].p_memsz;
    void* const first = reinterpret_cast<void*>(begin & ~page_mask);
    const std::size_t size = ((end + page_mask) & ~page_mask) - (begin & ~page_mask);
    if (mprotect(first, size, PROT_READ) != 0) std::abort();
  }
}

}  // namespace

#ifdef __x86_64__
// Relocates the program: adds its base address to each word that contains an address. The list of
// these words has the format RELR, which takes a fortieth of the space of an unpacked list, and
// which musl 1.2.3 cannot read. An even entry is the offset of a word; an odd entry has a bit for
// each of the next 63 words. This function runs before musl's start, so it must not use the stack
// protector.
extern "C" {

extern const std::uintptr_t __relr_begin[] __attribute__((visibility("hidden")));
extern const std::uintptr_t __relr_end[] __attribute__((visibility("hidden")));

__attribute__((used, externally_visible, no_stack_protector)) void fill_in_addresses() {
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  std::uintptr_t* where = nullptr;
  for (const std::uintptr_t* entry = __relr_begin; entry != __relr_end; ++entry) {
    if ((*entry & 1) == 0) {
      where = reinterpret_cast<std::uintptr_t*>(base + *entry);
      *where++ += base;
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit) {
      if ((*entry >> bit & 1) != 0) where[bit - 1] += base;
    }
    where += 63;
  }
}

__attribute__((used, externally_visible, naked)) void start_with_addresses() {
  asm("push %rdx\n\t"
      "call fill_in_addresses\n\t"
      "pop %rdx\n\t"
      "jmp _start");
}
}
#endif

// Every part of the program must be compiled with 64-bit times (dates beyond 2038) and file offsets
// (files beyond 2 GiB).
static_assert(sizeof(std::time_t) == 8 && sizeof(off_t) == 8);

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

void* operator new[](std::size_t size) {
  return operator new(size);
}

void operator delete[](void* memory) noexcept {
  std::free(memory);
}

// There is deliberately no operator delete without a size: code that calls it cannot be linked.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
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

// Compiles the functions of std::string once for the whole program. In other builds these functions
// come from libstdc++.
template class basic_string<char>;

}  // namespace std
