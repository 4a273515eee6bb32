import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RecordingLog } from '../../../test/support/recording-log.ts';
import { makeTemporaryFolder } from '../../../test/support/temporary-folder.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { formatUpstream } from '../../forward/upstream-address.ts';
import { systemClock } from '../../ground/clock.ts';
import { ResolvFile } from './resolv-file.ts';

async function follow(content: string | undefined) {
  const folder = await makeTemporaryFolder();
  const path = join(folder.path, 'resolv.conf');
  if (content !== undefined) await writeFile(path, content);
  const log = new RecordingLog();
  const changes: (readonly string[])[] = [];
  const file = new ResolvFile({
    ...{ path, log, clock: systemClock },
    isOurselves: ({ host }) => host.kind === 'address' && host.address === '10.0.0.10',
    onChange: (servers) => changes.push(servers.map(formatUpstream)),
  });
  onTestFinished(() => file.stop());
  return { path, log, changes, first: (await file.start()).map(formatUpstream) };
}

const messages = ({ records }: RecordingLog) => records.map(({ message }) => message);

it('names its servers, and without this one', async () => {
  const { first, log } = await follow(
    'search a\nnameserver 10.0.0.1\nnameserver 10.0.0.10\nnameserver fe80::1%eth0\n',
  );
  expect(first).toEqual(['10.0.0.1:53', '[fe80::1%eth0]:53']);
  expect(messages(log)).toContain('resolv file names this server, which cannot ask itself');
});

it('is followed however it is written, and reports bad lines', async () => {
  const { path, changes, log } = await follow('nameserver 10.0.0.1\n');
  await writeFile(path, 'nameserver 10.0.0.2\nnameserver nonsense\n');
  await waitUntil('the second servers', () => changes.length === 1);
  await writeFile(`${path}.new`, 'nameserver 10.0.0.3\nnameserver 10.0.0.2\n');
  await rename(`${path}.new`, path);
  await waitUntil('the third servers', () => changes.length === 2);
  expect(changes).toEqual([['10.0.0.2:53'], ['10.0.0.3:53', '10.0.0.2:53']]);
  expect(log.records.find(({ message }) => message === 'line of resolv file left out')?.fields).toMatchObject(
    { line: 2 },
  );
});

it('that is emptied leaves the servers of before, and one that comes later is read', async () => {
  const emptied = await follow('nameserver 10.0.0.1\n');
  await writeFile(emptied.path, '');
  const warning = 'resolv file names no server any more, those of before are asked';
  await waitUntil('the warning', () => messages(emptied.log).includes(warning));
  expect(emptied.changes).toEqual([]);
  const late = await follow(undefined);
  expect(late.first).toEqual([]);
  await writeFile(late.path, 'nameserver 10.0.0.1\n');
  await waitUntil('the first servers', () => late.changes.length === 1);
  expect(late.changes).toEqual([['10.0.0.1:53']]);
});
