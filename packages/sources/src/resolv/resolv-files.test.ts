import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ResolvFiles } from './resolv-files.ts';

async function follow(content: string | undefined, follows = true) {
  const folder = await makeTemporaryFolder();
  const path = join(folder.path, 'resolv.conf');
  if (content !== undefined) await writeFile(path, content);
  const clock = new ManualClock();
  const seen: string[] = [];
  const files = new ResolvFiles({
    paths: [path],
    follows,
    clock,
    log: silentLog,
    events: {
      missing: () => seen.push('missing'),
      reading: () => seen.push('reading'),
      problems: (_, problems) => seen.push(`problem in line ${problems.map(({ line }) => line).join()}`),
      empty: () => seen.push('empty'),
      changed: (servers) => seen.push(servers.map(formatUpstream).join()),
    },
  });
  onTestFinished(() => files.stop());
  await files.start();
  const until = (last: string) =>
    waitUntil(last, () => seen.at(-1) === last, { step: () => clock.advance(500) });
  return { path, files, seen, until };
}

it('reads what is there at the start without calling it a change', async () => {
  const { files, seen } = await follow('search a\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\n');
  expect(files.servers.map(formatUpstream)).toEqual(['10.0.0.1:53', '[fe80::1%eth0]:53']);
  expect(seen).toEqual(['reading']);
});

it('follows a file however it is written, and reports bad lines', async () => {
  const { path, seen, until } = await follow('nameserver 10.0.0.1\n');
  await writeFile(path, 'nameserver 10.0.0.2\nnameserver nonsense\n');
  await until('10.0.0.2:53');
  await writeFile(`${path}.new`, 'nameserver 10.0.0.3\nnameserver 10.0.0.2\n');
  await rename(`${path}.new`, path);
  await until('10.0.0.3:53,10.0.0.2:53');
  expect(seen).toContain('problem in line 2');
});

it('keeps the servers of a file that is emptied or goes away, and reads one that comes late', async () => {
  const { path, files, seen, until } = await follow('nameserver 10.0.0.1\n');
  await writeFile(path, '');
  await until('empty');
  await rm(path);
  await until('missing');
  expect(files.servers.map(formatUpstream)).toEqual(['10.0.0.1:53']);
  expect(seen.filter((each) => each.includes(':53'))).toEqual([]);
  const late = await follow(undefined);
  expect(late.seen).toEqual(['missing']);
  await writeFile(late.path, 'nameserver 10.0.0.2\n');
  await late.until('10.0.0.2:53');
});

it('reads a file that is not followed when it is told to', async () => {
  const { path, files, seen } = await follow('nameserver 10.0.0.1\n', false);
  await writeFile(path, 'nameserver 10.0.0.2\n');
  await files.reload();
  expect(files.servers.map(formatUpstream)).toEqual(['10.0.0.2:53']);
  expect(seen).toEqual(['reading', 'reading']);
});
