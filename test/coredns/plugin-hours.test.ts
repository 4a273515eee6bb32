/**
 * A plugin from outside that overrides others during given hours: neither readers nor a cache give an answer beyond them, nor the one of
 * before within them.
 */
import { guardPlugin } from '@portolan/corefile/definition/guard-plugin.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { PluginDefinition, Query } from '@portolan/plugin';
import { describe, expect, it } from 'vitest';
import { BLOCK, makeCursor, makeUse } from '../../packages/testing/src/uses.ts';
import { makePacket, ReaderSubject } from './reader-subject.ts';

const EXAMPLE: string = '../../examples/maintenance/maintenance.js';
const { default: maintenance } = (await import(EXAMPLE)) as { readonly default: PluginDefinition };
const OVERRIDE = 'maintenance a.test 192.0.2.80 01:00-02:00';
const OTHERS = 'template IN A {\n answer "{{ .Name }} 600 IN A 192.0.2.7"\n }';
const CACHES = [
  'cache 300',
  'cache {\n success 9984 3600 300\n }',
  'cache {\n serve_stale 1h\n }',
  'cache {\n serve_stale 1h verify\n }',
  'cache {\n keepttl\n }',
  'cache {\n prefetch 1 1m 20%\n }',
];

/** The example with something more to say of each query. */
function callFirst(call: (query: Query) => void): PluginDefinition {
  return {
    ...maintenance,
    create(options, context) {
      const { handler } = maintenance.create(options, context);
      if (handler === undefined) throw new Error('no handler');
      const handle: typeof handler.handle = (query, next) => {
        call(query);
        return handler.handle(query, next);
      };
      return { handler: { ...handler, handle } };
    },
  };
}

/** @param before the plugin of the block that sees queries next */
async function start(cache: string, before: string, definition = maintenance) {
  const plan = compilePlan(`.:53 {\n ${cache}\n ${OTHERS}\n}\n`);
  const [block] = plan.blocks;
  if (block === undefined) throw new Error('no block');
  const place = block.plugins.findIndex(({ name }) => name === before);
  const options = maintenance.read(makeCursor(makeUse(OVERRIDE)), BLOCK);
  const use = usePlugin(guardPlugin(definition, before), options);
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const blocks = [{ ...block, plugins: block.plugins.toSpliced(place, 0, use) }];
  const subject = new ReaderSubject({ ...plan, blocks }, clock);
  await subject.engine.start();
  const packet = makePacket('www.a.test', 'A');
  return {
    clock,
    /** Readers first, then the chain, as often as popularity needs. */
    async askAt(hour: number, minute: number, second: number) {
      clock.advance(Date.UTC(2026, 0, 1, hour, minute, second) - clock.now());
      const addresses = new Set<string>();
      for (let turn = 0; turn < 4; turn += 1) {
        const message = subject.askTable(packet) ?? (await subject.askChain(packet));
        for (const record of message?.answers ?? [])
          addresses.add(presentRecord(record).split(' ').at(-1) ?? '');
        // A refresh of the cache ends.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return [...addresses];
    },
  };
}

const OTHER = ['192.0.2.7'];
const OWN = ['192.0.2.80'];

describe.each(CACHES)('with %s', (cache) => {
  it.each<[string, string, PluginDefinition]>([
    ['before the cache', 'cache', maintenance],
    ['behind it, if it forbids to cache', 'template', callFirst((query) => query.forbidCaching())],
  ])('its hours are exact %s', async (_, before, definition) => {
    const { askAt } = await start(cache, before, definition);
    expect(await askAt(0, 55, 0)).toEqual(OTHER);
    expect(await askAt(0, 59, 59)).toEqual(OTHER);
    for (const minute of [0, 1, 30, 59]) expect(await askAt(1, minute, minute)).toEqual(OWN);
    for (const minute of [0, 1, 30]) expect(await askAt(2, minute, minute)).toEqual(OTHER);
  });
});

it.each(CACHES.filter((cache) => !cache.includes('success')))(
  'ends with its TTL behind a cache that may keep it: %s',
  async (cache) => {
    let passes = true;
    const forbidOthers = callFirst((query) => {
      if (passes) query.forbidCaching();
    });
    const { askAt } = await start(cache, 'template', forbidOthers);
    expect(await askAt(0, 59, 59)).toEqual(OTHER);
    passes = false;
    expect(await askAt(1, 59, 50)).toEqual(OWN);
    passes = true;
    // The first one may be stale, and has the TTL 0.
    await askAt(2, 0, 21);
    expect(await askAt(2, 0, 22)).toEqual(OTHER);
  },
);
