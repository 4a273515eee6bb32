import { utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { expect, it, onTestFinished } from 'vitest';
import { readPlan } from '../settings/testing/read-plan.ts';
import { UpstreamSources } from './upstream-sources.ts';

function begin(lines: string, takeUp = async (): Promise<void> => {}) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const passed: string[] = [];
  const sources = new UpstreamSources({
    plan: readPlan(lines).upstreams,
    isOurselves: ({ port }) => port === 5399,
    onChange: ({ fromResolvFile, moreRoutes }, isReload) => {
      passed.push(`${fromResolvFile.map(formatUpstream).join()} ${moreRoutes.length} ${isReload}`);
      return takeUp();
    },
    clock,
    log,
  });
  onTestFinished(() => sources.stop());
  const started = sources.start();
  const until = (last: string) =>
    waitUntil(last, () => passed.at(-1) === last, { step: () => clock.advance(500) });
  const hear = (start: string) =>
    waitUntil(start, () => log.records.some(({ message }) => message.startsWith(start)), {
      step: () => clock.advance(500),
    });
  return { sources, started, passed, until, hear, said: () => log.records.map(({ message }) => message) };
}

async function follow(lines: string) {
  const following = begin(lines);
  await following.started;
  return following;
}

it('takes the newest of several resolv files, as they change', async () => {
  const { write } = await makeTemporaryFolder();
  const one = await write('one', 'nameserver 192.0.2.1\n');
  const other = await write('other', 'nameserver 192.0.2.2\n');
  utimesSync(one, 1_000, 1_000);
  utimesSync(other, 2_000, 2_000);
  const { passed, until, hear, said } = await follow(`resolv-file=${one}\nresolv-file=${other}`);
  expect(passed).toEqual(['192.0.2.2:53 0 false']);
  writeFileSync(one, 'nameserver 192.0.2.3\nnameserver nonsense\n');
  await until('192.0.2.3:53 0 true');
  expect(said()).toContain(`${one}:2: not an IP address: "nonsense"`);
  writeFileSync(one, '');
  // An empty file is most likely being written.
  await hear('no servers found');
  expect(passed.at(-1)).toBe('192.0.2.3:53 0 true');
  await rm(one);
  await until('192.0.2.2:53 0 true');
  expect(said().filter((text) => text.startsWith('failed to access'))).toHaveLength(1);
});

it('reads the servers file when it is told to', async () => {
  const { write } = await makeTemporaryFolder();
  const file = await write('servers', 'server=/a.test/192.0.2.1\nport=53\n');
  const { sources, passed, said } = await follow(`no-resolv\nservers-file=${file}`);
  expect(passed).toEqual([' 1 false']);
  expect(said()).toContainEqual(expect.stringContaining(`${file}:2: not allowed in such a file`));
  expect(said()).toContain('using nameserver 192.0.2.1#53 for domain a.test');
  writeFileSync(file, 'server=/a.test/192.0.2.1\nserver=127.0.0.1#5399\n');
  await sources.reload();
  expect(passed).toEqual([' 1 false', ' 2 false']);
  expect(said()).toContain('ignoring nameserver 127.0.0.1#5399 - local interface');
});

it('says when there is nobody to ask', async () => {
  const { said } = await follow('no-resolv');
  expect(said()).toEqual(['warning: no upstream servers configured']);
});

it('names servers in the log once they are in use', async () => {
  const { write } = await makeTemporaryFolder();
  const file = await write('servers', 'server=/a.test/192.0.2.1\n');
  let use = (): void => {};
  const used = new Promise<void>((resolve) => {
    use = resolve;
  });
  const { passed, said, started } = begin(`no-resolv\nservers-file=${file}`, () => used);
  await waitUntil('the servers to be passed on', () => passed.length > 0);
  expect(said()).toEqual([]);
  use();
  await started;
  expect(said()).toEqual(['using nameserver 192.0.2.1#53 for domain a.test']);
});
