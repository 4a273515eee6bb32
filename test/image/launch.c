/*
 * Becomes a program as a container runtime starts it: launch ROOT UID GID CAPABILITIES NO_NEW_PRIVILEGES PROGRAM [ARGUMENT...]
 *
 * CAPABILITIES is the mask of what the container has left, in hexadecimal digits. As runc does, it bounds all that the program may get,
 * and is permitted and effective before the program is executed, also for users other than root; none are inheritable or ambient.
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void require(int result, const char *step) {
  if (result == 0) return;
  perror(step);
  exit(125);
}

int main(int count, char **words) {
  if (count < 7) return 2;
  gid_t group = (gid_t)strtoul(words[3], NULL, 10);
  unsigned long long capabilities = strtoull(words[4], NULL, 16);
  require(chroot(words[1]), "chroot");
  require(chdir("/"), "chdir");
  for (unsigned long each = 0; prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; each++)
    if ((capabilities >> each & 1) == 0) require(prctl(PR_CAPBSET_DROP, each, 0, 0, 0), "PR_CAPBSET_DROP");

  require(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "PR_SET_KEEPCAPS");
  require(setgroups(1, &group), "setgroups");
  require(setgid(group), "setgid");
  require(setuid((uid_t)strtoul(words[2], NULL, 10)), "setuid");
  require(prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0), "PR_SET_KEEPCAPS");
  unsigned low = (unsigned)capabilities, high = (unsigned)(capabilities >> 32);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{low, low, 0}, {high, high, 0}};
  require((int)syscall(SYS_capset, &header, sets), "capset");
  if (words[5][0] == '1') require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");

  execv(words[6], words + 6);
  perror(words[6]);
  return 126;
}
