import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { RestorableId } from '@portolan/kernel/deviations/table.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { expect, it, onTestFinished } from 'vitest';
import { type CorefileSettings, readCorefile, readDigest } from '../settings/read-corefile.ts';
import { CoreDnsFrontEnd } from './coredns-front-end.ts';

const GOOD = 'a.test {\nreload 2s 1s\nwhoami\n}\n';
/** Longer than the longest interval between checks. */
const TICK = 3_000;

function makeSettings(files: CorefileFiles): CorefileSettings {
  const settings = { file: 'Corefile', profile: '1.14', defaultPort: 53, environment: {} } as const;
  return { ...settings, files, interfaces: new Map() };
}

/** A front end of `GOOD`, with `write` to change its file. @param fault makes each later plan fail to start */
interface FrontEndSettings {
  readonly restored?: readonly RestorableId[];
  readonly fault?: string;
  readonly missing?: string;
  readonly first?: string;
}

async function startFrontEnd({
  restored = [],
  fault = '',
  missing = '',
  first = GOOD,
}: FrontEndSettings = {}) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new MetricRegistry();
  let text = first;
  let looks = 0;
  const settings = makeSettings({
    read: () => '',
    findKind() {
      looks += 1;
      return undefined;
    },
    list: () => [],
  });
  const reading = readCorefile(first, settings);
  if (reading.kind === 'bad') throw new Error(reading.problems.map(({ message }) => message).join());
  const frontEnd = new CoreDnsFrontEnd({
    reading,
    restored: new Set(restored),
    queryLog: undefined,
    http: new HttpHost({ clock, log }),
    clock,
    log,
    takeover: false,
    digest: () => readDigest(text, settings),
    read: () => readCorefile(text, settings),
    metrics: () => metrics,
    metricsText: () => '',
    notReady: () => [],
    missingRules: () => (missing === '' ? undefined : { reason: missing, age: 0 }),
  });
  onTestFinished(() => frontEnd.stop());
  await frontEnd.start(async () => {
    if (fault !== '') throw new Error(fault);
  });
  return {
    frontEnd,
    write(changed: string) {
      text = changed;
    },
    /** The lines since the last tick, and the count of failures. */
    async tick() {
      const from = log.records.length;
      clock.advance(TICK);
      // A check takes several turns of promises, but no time.
      await new Promise((resolve) => setImmediate(resolve));
      const lines = log.records.slice(from).map(({ level, message }) => `${level} ${message}`);
      return { lines, failures: countFailures(metrics) };
    },
    failures: () => countFailures(metrics),
    /** How often plugins have looked for their files. */
    looks: () => looks,
  };
}

function countFailures(metrics: MetricRegistry): number {
  const family = metrics.families().find(({ name }) => name === 'coredns_reload_failed_total');
  const [sample] = family?.read() ?? [];
  return sample?.[1] ?? 0;
}

function twoErrors(reason: string): readonly string[] {
  return [
    'info Reloading',
    `error Restart failed: ${reason}`,
    `error plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: ${reason}`,
  ];
}

const NAME = "Corefile:3 - Error during parsing: Unknown directive 'whoamy'";
const OPTION = 'plugin/cache: cache TTL can not be zero or negative: 0';

it.each([
  ['a typo in the name of a directive', 'a.test {\nreload 2s 1s\nwhoamy\n}\n', NAME],
  ['an option that is wrong', 'a.test {\nreload 2s 1s\ncache 0\n}\n', OPTION],
  ['a zone that is served twice', `${GOOD}${GOOD}`, 'cannot serve dns://a.test.:53 - it is already defined'],
])('counts %s once, with the lines of CoreDNS', async (_, text, reason) => {
  for (const restored of [[], ['reload-tries-again', 'reload-failures']] as const) {
    const { write, tick } = await startFrontEnd({ restored });
    expect(await tick()).toEqual({ lines: [], failures: 0 });
    write(text);
    expect(await tick()).toEqual({ lines: twoErrors(reason), failures: 1 });
    expect(await tick()).toEqual({ lines: [], failures: 1 });
    write(text.replaceAll('a.test', 'b.test'));
    expect((await tick()).failures).toBe(2);
  }
});

it('counts a plan that does not start', async () => {
  const { write, tick } = await startFrontEnd({ fault: 'port 53 is in use' });
  write('b.test {\nreload 2s 1s\nwhoami\n}\n');
  expect(await tick()).toEqual({ lines: twoErrors('port 53 is in use'), failures: 1 });
});

it('counts a file that does not parse once; restored, it warns at each look and does not count', async () => {
  // The text has a typo and an unclosed brace; CoreDNS reports the brace first.
  const text = 'a.test {\nreload 2s 1s\nwhoamy\ncache {\n';
  const lines = [
    'warn plugin/reload: Corefile parse failed: Corefile:4 - Error during parsing: Unexpected EOF',
  ];
  const { write, tick } = await startFrontEnd();
  write(text);
  expect(await tick()).toEqual({ lines, failures: 1 });
  expect(await tick()).toEqual({ lines: [], failures: 1 });
  const strict = await startFrontEnd({ restored: ['reload-failures'] });
  strict.write(text);
  expect(await strict.tick()).toEqual({ lines, failures: 0 });
  expect(await strict.tick()).toEqual({ lines, failures: 0 });
});

it('lets plugins read their files again only if the Corefile has changed', async () => {
  const first = 'a.test {\nreload 2s 1s\nroot /zones\nwhoami\n}\n';
  const { write, tick, looks } = await startFrontEnd({ first });
  const before = looks();
  expect(before).toBeGreaterThan(0);
  expect(await tick()).toEqual({ lines: [], failures: 0 });
  expect(looks()).toBe(before);
  write(first.replace('a.test', 'b.test'));
  await tick();
  expect(looks()).toBe(2 * before);
  await tick();
  expect(looks()).toBe(2 * before);
});

it('forgets a failure when the Corefile that it serves is back', async () => {
  for (const faulty of ['a.test {\nreload 2s 1s\ncache 0\n}\n', 'a.test {\n']) {
    const { frontEnd, write, tick } = await startFrontEnd();
    write(faulty);
    await tick();
    expect(frontEnd.stats().problems).toHaveLength(1);
    write(GOOD);
    expect(await tick()).toEqual({ lines: [], failures: 1 });
    expect(frontEnd.stats().problems).toEqual([]);
  }
});

it('counts a failed reload by signal once, and by CoreDNS not at all', async () => {
  for (const [restored, counted] of [
    [[], 1],
    [['reload-failures'], 0],
  ] as const) {
    const { frontEnd, write, tick, failures } = await startFrontEnd({ restored });
    write('a.test {\nreload 2s 1s\nwhoamy\n}\n');
    await frontEnd.reload();
    expect(await failures()).toBe(counted);
    expect((await tick()).failures).toBe(counted);
  }
});

it.each([
  ['', [], 'OK'],
  ['nft -i: spawn nft ENOENT', [], 'OK\npacket filter rules not set: nft -i: spawn nft ENOENT\n'],
  ['nft -i: spawn nft ENOENT', ['ready-reasons'], 'OK'],
] as const)(
  'says with its health and readiness that rules are missing: "%s", restored: %s',
  async (missing, restored, body) => {
    const health = await findFreePort();
    const ready = await findFreePort();
    const first = `a.test {\nhealth 127.0.0.1:${health}\nready 127.0.0.1:${ready}\nwhoami\n}\n`;
    const { frontEnd } = await startFrontEnd({ restored, missing, first });
    await frontEnd.open();
    frontEnd.announce();
    for (const url of [`http://127.0.0.1:${health}/health`, `http://127.0.0.1:${ready}/ready`]) {
      const reply = await fetch(url);
      expect([reply.status, await reply.text()]).toEqual([200, body]);
    }
    expect(frontEnd.stats().missingRules?.reason ?? '').toBe(missing);
  },
);
