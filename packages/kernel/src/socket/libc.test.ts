import { describe, expect, it } from 'vitest';
import { batchesAvailable, libc } from './libc.ts';
import { AF_INET, EAGAIN, EINTR, SOCK_DGRAM } from './linux.ts';

const LINUX = { system: 'linux', processor: 'x64', endianness: 'LE' } as const;

describe('the C library', () => {
  it.each(['x64', 'arm64', 'riscv64', 'loong64'])('serves batches on linux/%s', (processor) => {
    expect(batchesAvailable({ ...LINUX, processor })).toBe(true);
  });

  it('says why batches are not to be had', () => {
    expect(batchesAvailable({ ...LINUX, system: 'darwin' })).toEqual({
      reason: 'the operating system is darwin, not linux',
    });
    for (const machine of [
      { ...LINUX, processor: 's390x', endianness: 'BE' },
      { ...LINUX, processor: 'ia32' },
    ] as const) {
      expect(batchesAvailable(machine)).toEqual({
        reason: `packet layouts are not known for processor ${machine.processor}`,
      });
    }
  });

  it('says why a call failed', () => {
    expect(libc().close(-1)).toBe(-1);
    expect(libc().errorName(libc().errno())).toBe('EBADF');
    expect([EAGAIN, EINTR].map((errno) => libc().errorName(errno))).toEqual(['EAGAIN', 'EINTR']);
    expect(libc().errorName(12_345)).toBe('error 12345');
  });

  it('says why calls on other threads failed, whatever fails meanwhile', async () => {
    const descriptor = libc().socket(AF_INET, SOCK_DGRAM, 0);
    const later = [-1, descriptor].map((fd) => libc().sendLater(fd, Uint8Array.of(1), 0));
    libc().epoll_create1(-1);
    expect((await Promise.all(later)).map((errno) => libc().errorName(errno))).toEqual([
      'EBADF',
      'EDESTADDRREQ',
    ]);
    libc().close(descriptor);
  });
});
