// Provides glibc's _dl_find_object, by which Debian's libgcc finds the tables for exceptions. musl
// lacks this function, so packaging/static/tools compiles this file into its programs.
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>

// The structure as glibc 2.35 declares it in <dlfcn.h>, without dlfo_eh_dbase, which exists only on
// processors with DLFO_STRUCT_HAS_EH_DBASE.
struct dl_find_object {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  struct link_map* link_map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct search {
  size_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  const ElfW(Phdr)* tables = NULL;
  const ElfW(Phdr)* code = NULL;
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[index];
    if (part->p_type == PT_GNU_EH_FRAME) tables = part;
    if (part->p_type == PT_LOAD &&
        search->address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz) {
      code = part;
    }
  }
  if (code == NULL || tables == NULL) return 0;
  search->found->map_start = (void*)(object->dlpi_addr + code->p_vaddr);
  search->found->map_end = (void*)(object->dlpi_addr + code->p_vaddr + code->p_memsz);
  search->found->eh_frame = (void*)(object->dlpi_addr + tables->p_vaddr);
  return 1;
}

// Returns 0 if `address` is in the program, and -1 otherwise.
int _dl_find_object(void* address, struct dl_find_object* found);
int _dl_find_object(void* address, struct dl_find_object* found) {
  *found = (struct dl_find_object){0};
  struct search search = {(size_t)address, found};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
