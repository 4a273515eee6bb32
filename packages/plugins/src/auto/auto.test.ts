import { mkdir, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { toReply } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';
import { Auto } from './auto.ts';
import type { AutoOptions } from './options.ts';

const key = (name: string) => toKey(parseName(name));
const zone = (serial: number, address: string) =>
  `@ 60 IN SOA ns host ${serial} 7200 3600 1209600 60\n@ 60 IN NS ns\nwww 60 IN A ${address}\n`;

async function startScene(changes: Partial<AutoOptions> = {}) {
  const folder = await makeTemporaryFolder();
  const clock = new ManualClock();
  const log = new RecordingLog();
  const options: AutoOptions = {
    zones: [key('example'), key('test')],
    directory: folder.path,
    pattern: new Pattern('db\\.(.*)'),
    origin: '{1}',
    reload: 1000,
    ...changes,
  };
  const auto = new Auto(options, {
    clock,
    log,
    restored: NOTHING_RESTORED,
    chain: () => ({ kind: 'refused' }),
    onChange: () => {},
    onRemove: () => {},
  });
  const ask = async (name: string): Promise<string> => {
    const end = { kind: 'servfail', reason: 'plugin/auto: no next plugin found' } as const;
    const answer = await auto.handler.handle(makeQuery(name), () => end);
    if (answer.kind === 'refused' || answer.kind === 'servfail' || answer.kind === 'drop') return answer.kind;
    const { answers = [], rcode = 0 } = toReply(answer);
    return answers.length === 0 ? String(rcode) : answers.map(presentRecord).join();
  };
  const messages = () =>
    log.records.map(({ level, message }) => `${level} ${message.replaceAll(folder.path, 'DIR')}`);
  return { folder, auto, clock, ask, messages };
}

it('serves the zones of all files with a fitting name, and follows them', async () => {
  const { folder, auto, clock, ask, messages } = await startScene();
  await folder.write('db.example', zone(1, '192.0.2.1'));
  await folder.write('below/db.a.test', zone(1, '192.0.2.2'));
  await folder.write('other.txt', 'no zone');
  await folder.write('db.elsewhere.org', zone(1, '192.0.2.3'));
  auto.start();
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.1');
  expect(await ask('www.a.test')).toBe('www.a.test. 60 IN A 192.0.2.2');
  expect(await ask('nosuch.example')).toBe('3');
  expect(await ask('b.test')).toBe('refused');
  expect(await ask('www.elsewhere.org')).toBe('refused');
  await folder.write('db.example', zone(2, '192.0.2.9'));
  await unlink(join(folder.path, 'below/db.a.test'));
  await folder.write('db.b.test', zone(1, '192.0.2.4'));
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.1');
  clock.advance(1000);
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.9');
  expect(await ask('www.a.test')).toBe('refused');
  expect(await ask('www.b.test')).toBe('www.b.test. 60 IN A 192.0.2.4');
  expect(messages()).toEqual([
    "info plugin/auto: Inserting zone `a.test.' from: DIR/below/db.a.test",
    "info plugin/auto: Inserting zone `elsewhere.org.' from: DIR/db.elsewhere.org",
    "info plugin/auto: Inserting zone `example.' from: DIR/db.example",
    "info plugin/auto: Inserting zone `b.test.' from: DIR/db.b.test",
    'info plugin/file: Successfully reloaded zone "example." in "DIR/db.example" with 2 SOA serial',
    "info plugin/auto: Deleting zone `a.test.'",
  ]);
});

it('keeps a zone whose file has a fault, and names the fault once', async () => {
  const { folder, auto, clock, ask, messages } = await startScene();
  await folder.write('db.example', zone(1, '192.0.2.1'));
  auto.start();
  await folder.write('db.example', 'garbage\n');
  clock.advance(1000);
  clock.advance(1000);
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.1');
  expect(messages().filter((message) => message.startsWith('warn'))).toHaveLength(1);
  await folder.write('db.example', zone(2, '192.0.2.2'));
  clock.advance(1000);
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.2');
});

it('follows the links of a ConfigMap', async () => {
  const { folder, auto, clock, ask, messages } = await startScene();
  await folder.write('..v1/db.example', zone(1, '192.0.2.1'));
  await symlink('..v1', join(folder.path, '..data'));
  await symlink('..data/db.example', join(folder.path, 'db.example'));
  auto.start();
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.1');
  await folder.write('..v2/db.example', zone(2, '192.0.2.2'));
  await unlink(join(folder.path, '..data'));
  await symlink('..v2', join(folder.path, '..data'));
  clock.advance(1000);
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.2');
  expect(messages().filter((message) => message.startsWith('warn'))).toEqual([]);
});

it('takes the first of several files for a zone, and origins of several groups', async () => {
  const pattern = new Pattern('^(?P<host>\\w+)-of-(\\w+)');
  const { folder, auto, ask, messages } = await startScene({ pattern, origin: '{host}.{2}' });
  await folder.write('a-of-example', zone(1, '192.0.2.1'));
  await folder.write('a-of-example.old', zone(1, '192.0.2.2'));
  auto.start();
  expect(await ask('www.a.example')).toBe('www.a.example. 60 IN A 192.0.2.1');
  expect(messages()).toContain(
    'warn plugin/auto: Multiple zone files match origin "a.example.": using "DIR/a-of-example" instead of "DIR/a-of-example.old"',
  );
});

it('waits for a folder that is not there', async () => {
  const { folder, auto, clock, ask } = await startScene();
  await rm(folder.path, { recursive: true });
  auto.start();
  expect(await ask('www.example')).toBe('refused');
  await mkdir(folder.path);
  await folder.write('db.example', zone(1, '192.0.2.1'));
  clock.advance(1000);
  expect(await ask('www.example')).toBe('www.example. 60 IN A 192.0.2.1');
  auto.stop();
});
