import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import type { ConfigMapObject, ObjectSink } from '@portolan/kubernetes/objects/objects.ts';
import type { Following, ObjectSource } from '@portolan/server/object-source.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DynamicPlan } from '../settings/serve-options.ts';
import { DynamicConfig } from './dynamic-config.ts';
import { StoredConfig } from './stored-config.ts';

const DOMAIN = toKey(parseName('cluster.local.'));

/** An object source without an API server. */
const FILES: ObjectSource = {
  name: 'files',
  findIdentity: async () => undefined,
  start: async () => {},
  status: () => ({ synced: true, age: undefined, reasons: [], watches: [], manifests: undefined }),
  followConfigMap: () => undefined,
  followNodeRanges: () => undefined,
  followNodes: () => undefined,
  stop: async () => {},
};

async function start(plan: DynamicPlan, source = FILES, file?: string) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const federations: (readonly string[])[] = [];
  const config = new DynamicConfig({
    plan,
    onChange: async (now) => {
      federations.push(now.federations.map(({ name }) => name));
    },
    domain: DOMAIN,
    file,
    clock,
    log,
  });
  onTestFinished(() => config.stop());
  await config.start(source);
  return { clock, log, config, federations };
}

describe('settings from a folder', () => {
  it('are read before the start is over, and followed', async () => {
    const folder = await makeTemporaryFolder();
    await folder.write('federations', 'a=a.example');
    const plan = { kind: 'folder', directory: folder.path, period: 1000 } as const;
    const { clock, config, federations } = await start(plan);
    expect(federations).toEqual([['a']]);
    const step = () => clock.advance(50);
    await folder.write('federations', 'b=b.example');
    await waitUntil('the change', () => federations.length === 2, { step });
    await folder.write('federations', Buffer.from([0x62, 0xff]));
    await waitUntil('the mistake', () => config.stats()?.isLastGood === true, { step });
    await rm(join(folder.path, 'federations'));
    await waitUntil('the end', () => federations.length === 3, { step });
    expect(federations).toEqual([['a'], ['b'], []]);
  });

  it('may have no folder yet', async () => {
    const folder = await makeTemporaryFolder();
    const directory = join(folder.path, 'config');
    const { clock, federations } = await start({ kind: 'folder', directory, period: 1000 });
    expect(federations).toEqual([[]]);
    await folder.write('config/federations', 'a=a.example');
    await waitUntil('the folder', () => federations.length === 2, { step: () => clock.advance(100) });
  });
});

describe('settings from a ConfigMap', () => {
  const PLAN = { kind: 'config-map', namespace: 'here', name: 'dns' } as const;

  it('are followed until the end', async () => {
    let given: ObjectSink<ConfigMapObject> | undefined;
    let isStopped = false;
    let lists = 0;
    let isRefused = false;
    let state: WatchStats['state'] = 'idle';
    const following: Following = {
      status: () => ({
        title: 'configmaps',
        state,
        age: 0,
        objects: 0,
        lists,
        repairs: 0,
        malformed: 0,
      }),
      isRefused: () => isRefused,
      stop: async () => {
        isStopped = true;
      },
    };
    const { config, log, federations } = await start(PLAN, {
      ...FILES,
      followConfigMap: (namespace, name, sink) => {
        expect([namespace, name]).toEqual(['here', 'dns']);
        given = sink;
        return following;
      },
    });
    expect(config.isSettled).toBe(false);
    state = 'waiting';
    expect(config.isSettled).toBe(false);
    isRefused = true;
    expect(config.isSettled).toBe(true);
    [state, isRefused] = ['listing', false];
    expect(config.isSettled).toBe(true);
    lists = 1;
    given?.listCompleted();
    expect(log.records[0]).toMatchObject({ level: 'info', message: 'ConfigMap not found: using defaults' });
    const data = new Map([['federations', 'a=a.example']]);
    given?.upsert({ kind: 'ConfigMap', namespace: 'here', name: 'dns', data });
    given?.remove('here/dns');
    expect(federations).toEqual([[], ['a'], []]);
    expect(config.following).toBe(following);
    await config.stop();
    expect(isStopped).toBe(true);
  });

  it('are not to be had without an API server', async () => {
    const { log } = await start(PLAN);
    expect(log.records).toMatchObject([{ level: 'warn' }]);
  });
});

describe('settings of the last run', () => {
  it('hold until there are good ones', async () => {
    const folder = await makeTemporaryFolder();
    const file = join(folder.path, 'kept');
    const plan = { kind: 'folder', directory: join(folder.path, 'config'), period: 1000 } as const;
    await folder.write('config/federations', 'a=a.example');
    await folder.write('config/stubDomains', '{}');
    const first = await start(plan, FILES, file);
    await first.config.stop();
    await folder.write('config/federations', 'b');
    const second = await start(plan, FILES, file);
    expect(second.federations).toEqual([['a']]);
    expect(second.config.stats()).toMatchObject({ isLastGood: true, changes: 1 });
    await folder.write('config/federations', 'b=b.example');
    const step = () => second.clock.advance(50);
    await waitUntil('the change', () => second.federations.length === 2, { step });
    await second.config.stop();
    const third = await start({ kind: 'config-map', namespace: 'here', name: 'dns' }, FILES, file);
    // Ignore settings saved from another source.
    expect(third.federations).toEqual([]);
    expect(third.log.records[0]).toMatchObject({ level: 'error', message: 'saved configuration ignored' });
  });

  it.each(['', 'nonsense\n'])('are left alone if they are damaged: %j', async (content) => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('kept', content);
    const { federations, log } = await start(
      { kind: 'folder', directory: '/nowhere', period: 1000 },
      FILES,
      file,
    );
    expect(federations).toEqual([[]]);
    expect(log.records[0]).toMatchObject({ level: 'error', message: 'saved configuration ignored' });
  });

  it('are those of the last change, however fast they come', async () => {
    const folder = await makeTemporaryFolder();
    const clock = new ManualClock();
    const log = new RecordingLog();
    const owner = { domain: DOMAIN, source: 'here' };
    const kept = new StoredConfig({ file: join(folder.path, 'kept'), owner, clock, log });
    for (const text of ['a=a', 'b=b', 'c=c']) kept.keep(new Map([['federations', { kind: 'text', text }]]));
    await kept.stop();
    expect(await kept.read()).toEqual(new Map([['federations', { kind: 'text', text: 'c=c' }]]));
    const nowhere = new StoredConfig({ file: join(folder.path, 'no/folder'), owner, clock, log });
    nowhere.keep(new Map());
    await nowhere.stop();
    expect(log.records).toMatchObject([{ level: 'error', message: 'cannot save configuration' }]);
    expect(await nowhere.read()).toBeUndefined();
  });
});

it.each(['lists', 'isRefused'] as const)(
  'are settled as soon as they are listed or refused: %s',
  async (how) => {
    const status = { title: '', state: 'waiting', age: 0, objects: 0, repairs: 0, malformed: 0 } as const;
    const now = { lists: 0, isRefused: 0 };
    const following = {
      status: () => ({ ...status, lists: now.lists }),
      isRefused: () => now.isRefused > 0,
      stop: async () => {},
    };
    const plan = { kind: 'config-map', namespace: 'here', name: 'dns' } as const;
    const { config } = await start(plan, { ...FILES, followConfigMap: () => following });
    // A failing server may still deliver them later.
    expect(config.isSettled).toBe(false);
    now[how] = 1;
    expect(config.isSettled).toBe(true);
    now[how] = 0;
    expect(config.isSettled).toBe(true);
  },
);

it('there may be none', async () => {
  const { config, federations } = await start({ kind: 'none' });
  expect([config.stats(), config.following, federations]).toEqual([undefined, undefined, []]);
});
