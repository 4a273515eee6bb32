import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releasePages, unchangedFileMappings } from './program-pages.ts';

function mapping(head: string, { anonymous = 0, swap = 0 } = {}): string {
  return `${head}
Size:              27184 kB
Rss:               16696 kB
Private_Dirty:         0 kB
Anonymous:      ${anonymous} kB
AnonHugePages:         0 kB
Swap:           ${swap} kB
SwapPss:               0 kB
VmFlags: rd ex mr mw me`;
}

it('finds what is as it is in its file, and nothing else', () => {
  const smaps = [
    mapping('00b72000-025fe000 r-xp 00772000 fe:00 247026                     /usr/local/bin/node'),
    mapping('02601000-0563a000 r--p 02201000 fe:00 247026                     /usr/local/bin/node'),
    // Read-only after relocation, in memory and swapped out.
    mapping('0563a000-0563e000 r--p 05239000 fe:00 247026                     /usr/local/bin/node', {
      anonymous: 16,
    }),
    mapping('7f9bb9729000-7f9bb972d000 r--p 001cf000 fe:00 326269             /usr/lib/libc.so.6', {
      swap: 4,
    }),
    mapping('7f9bb972d000-7f9bb972f000 rw-p 001d3000 fe:00 326269             /usr/lib/libc.so.6'),
    mapping('7f9bb9730000-7f9bb9731000 r--s 00000000 fe:00 316526             /usr/lib/locale/shared'),
    mapping('7f9bb9731000-7f9bb9732000 r--p 00000000 00:00 0 '),
    mapping('7ffd0c5e2000-7ffd0c5e4000 r-xp 00000000 00:00 0                  [vdso]'),
  ].join('\n');
  expect(unchangedFileMappings(smaps)).toEqual([
    { address: 0xb72000n, octets: 0x1a8c000 },
    { address: 0x2601000n, octets: 0x3039000 },
  ]);
});

it('finds nothing where the kernel does not tell which pages were changed', () => {
  const head = '00b72000-025fe000 r-xp 00772000 fe:00 247026                     /usr/local/bin/node';
  expect(unchangedFileMappings(`${head}\nSize: 27184 kB\nRss: 16696 kB\n`)).toEqual([]);
  expect(unchangedFileMappings('')).toEqual([]);
});

it('leaves the process running, with fewer pages of files', async () => {
  const residentOfFiles = () =>
    Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  const before = residentOfFiles();
  await releasePages();
  expect(residentOfFiles()).toBeLessThan(before);
  expect(JSON.parse('{"still": "here"}')).toEqual({ still: 'here' });
});
