/* Writes TEXT to one sector of a disk, past the kernel's cache, and flushes nothing. This leaves a
 * note in the log of the disk, between the writes of the file system.    usage: mark DISK SECTOR
 * TEXT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { sector_bytes = 512 };

int main(int argc, char** argv) {
  static char text[sector_bytes] __attribute__((aligned(4096)));
  if (argc != 4 || strlen(argv[3]) >= sector_bytes) return 2;
  strcpy(text, argv[3]);
  int disk = open(argv[1], O_WRONLY | O_DIRECT | O_CLOEXEC);
  off_t place = (off_t)atoll(argv[2]) * sector_bytes;
  return disk >= 0 && pwrite(disk, text, sector_bytes, place) == sector_bytes ? 0 : 1;
}
