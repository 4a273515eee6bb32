/**
 * What a plugin from outside publishes: readers answer it without the chain, as the chain would, until another plan or the plugin
 * replaces it.
 */
import { guardPlugin } from '@portolan/corefile/definition/guard-plugin.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message } from '@portolan/dns/types.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import {
  COUNTERS,
  definePlugin,
  type NamePublication,
  namesWithin,
  PUBLICATIONS,
  type PublishedAnswer,
} from '@portolan/plugin';
import { describe, expect, it, onTestFinished } from 'vitest';
import recordsPlugin from '../../packages/records/src/plugin.ts';
import { BLOCK, makeCursor, makeRecord, makeUse } from '../../packages/testing/src/uses.ts';
import '../support/load-all-plugins.ts';
import { makePacket, SERVER } from './reader-subject.ts';

const CLIENT = { address: '192.0.2.77', port: 5353 };
const key = (name: string) => toKey(parseName(name));

/** The plan of a Corefile with a plugin behind others. @param behind the plugin that it stands behind; undefined: it is the first */
function planWith(corefile: string, use: PluginUse, behind?: string): EnginePlan {
  const plan = compilePlan(corefile);
  const [first, ...others] = plan.blocks;
  if (first === undefined) throw new Error('no block');
  const place = first.plugins.findIndex(({ name }) => name === behind) + 1;
  return { ...plan, blocks: [{ ...first, plugins: first.plugins.toSpliced(place, 0, use) }, ...others] };
}

function useRecords(...lines: readonly string[]): PluginUse {
  const cursor = makeCursor(makeUse('records example.org', ...lines));
  return usePlugin(guardPlugin(recordsPlugin, 'file'), recordsPlugin.read(cursor, BLOCK));
}

async function start(plan: EnginePlan): Promise<Engine> {
  const engine = new Engine(plan, { readers: 0, version: 'test', clock: systemClock, log: silentLog });
  onTestFinished(() => engine.stop());
  await engine.start();
  return engine;
}

function askReader(engine: Engine, name: string, type = 'A'): Message | undefined {
  const at = 8192;
  const octets = new Uint8Array(at + 32);
  const packet = makePacket(name, type);
  octets.set(packet);
  octets.set(encodeSocketAddress(CLIENT), at);
  const group = engine.getListenerGroupNumber(SERVER);
  const end = engine.reader.answer(octets, 0, packet.length, 4096, 'udp', group, at);
  return end === VERDICT.ASK ? undefined : decodeMessage(octets.slice(0, end));
}

/** The records that a reader gives; undefined: it leaves the question to the chain. */
const read = (engine: Engine, name: string, type = 'A') =>
  askReader(engine, name, type)?.answers.map(presentRecord).join(' | ');

async function askChain(engine: Engine, name: string, type = 'A'): Promise<Message> {
  const response = await engine.serverBlocks.findQueryHandler(SERVER)?.(makePacket(name, type), {
    ...CLIENT,
    transport: 'udp',
  });
  if (response === undefined) throw new Error('no response');
  return decodeMessage(response);
}

const LINES = [
  '@ 60 SOA ns host 1 2 3 4 5',
  'www 300 A 192.0.2.1',
  'alias 300 CNAME www',
  'mail 300 MX 10 www',
];
const BEHIND = 'hosts {\n 192.0.2.9 none.example.org other.test\n fallthrough\n }';

describe('names of records', () => {
  it('are answered by readers at once, as by the chain', async () => {
    const engine = await start(planWith(`.:53 {\n ${BEHIND}\n}\n`, useRecords(...LINES)));
    for (const [name, type] of [
      ['www.example.org', 'A'],
      ['WWW.Example.ORG', 'A'],
      ['alias.example.org', 'A'],
      ['alias.example.org', 'AAAA'],
      ['mail.example.org', 'MX'],
      ['example.org', 'SOA'],
    ] as const) {
      const given = askReader(engine, name, type);
      expect(given, `${name} ${type}`).toEqual(await askChain(engine, name, type));
      expect(given?.answers).not.toEqual([]);
    }
  });

  it('leave the rest of their zones to the chain, and other names to plugins behind', async () => {
    const engine = await start(planWith(`.:53 {\n ${BEHIND}\n}\n`, useRecords(...LINES)));
    for (const [name, type] of [
      ['none.example.org', 'A'],
      ['a.www.example.org', 'A'],
      ['www.example.org', 'AAAA'],
      ['example.org', 'A'],
      ['www.example.org', 'ANY'],
    ] as const)
      expect(askReader(engine, name, type), name).toBeUndefined();
    expect((await askChain(engine, 'none.example.org')).header.rcode).toBe(3);
    // A reader repeats that of the chain.
    expect(askReader(engine, 'none.example.org')?.header.rcode).toBe(3);
    expect(read(engine, 'other.test')).toContain('192.0.2.9');
  });

  it('are those of the newest plan', async () => {
    const corefile = `.:53 {\n ${BEHIND}\n}\n`;
    const engine = await start(planWith(corefile, useRecords('www 300 A 192.0.2.1', 'gone 300 A 192.0.2.2')));
    expect(read(engine, 'gone.example.org')).toContain('192.0.2.2');
    await engine.change(planWith(corefile, useRecords('www 300 A 192.0.2.3')));
    expect(read(engine, 'www.example.org')).toBe('www.example.org. 300 IN A 192.0.2.3');
    expect(read(engine, 'gone.example.org')).toBeUndefined();
    await engine.change(compilePlan(corefile));
    expect(read(engine, 'www.example.org')).toBeUndefined();
  });

  it('have the TTLs that a cache in front leaves', async () => {
    const corefile = `.:53 {\n cache 30\n ${BEHIND}\n}\n`;
    const engine = await start(planWith(corefile, useRecords(...LINES), 'cache'));
    expect(read(engine, 'www.example.org')).toBe('www.example.org. 30 IN A 192.0.2.1');
    expect((await askChain(engine, 'www.example.org')).answers.map(presentRecord)).toEqual([
      'www.example.org. 30 IN A 192.0.2.1',
    ]);
  });

  it('are left to plugins in front that decide by the client', async () => {
    const acl = 'acl {\n block net 192.0.2.0/24\n }';
    const engine = await start(planWith(`.:53 {\n ${acl}\n ${BEHIND}\n}\n`, useRecords(...LINES), 'acl'));
    expect(read(engine, 'www.example.org')).toBeUndefined();
    expect((await askChain(engine, 'www.example.org')).header.rcode).toBe(5);
  });
});

describe('a publication', () => {
  const address = (name: string, last: number): PublishedAnswer => ({
    name: key(name),
    type: 1,
    records: [makeRecord(name, { kind: 'A', address: `192.0.2.${last}` })],
    authoritative: true,
  });

  async function startPublisher() {
    let publication: NamePublication | undefined;
    const definition = definePlugin({
      name: 'publisher',
      before: 'hosts',
      syntax: ['publisher'],
      examples: ['publisher'],
      read: () => undefined,
      create(_, context) {
        const publishes = context
          .use(PUBLICATIONS)
          .open(new Set([key('example.org.')]), [
            context.use(COUNTERS).family('coredns_publisher_answers_total', 'Answers.').with(),
          ]);
        publication = publishes;
        expect(() => publishes.replace([])).toThrow('call replace in start or later');
        return {
          handler: {
            name: 'publisher',
            role: 'other',
            answers: 'unchanged',
            questions: namesWithin(publishes.zones),
            publishes,
            handle: () => ({ kind: 'refused' }),
          },
        };
      },
    });
    const use = usePlugin(guardPlugin(definition, 'hosts'), undefined);
    const engine = await start(planWith(`.:53 {\n ${BEHIND}\n}\n`, use));
    if (publication === undefined) throw new Error('not made');
    return { engine, publication };
  }

  it('is replaced as a whole, the apex included', async () => {
    const { engine, publication } = await startPublisher();
    const names = ['example.org.', 'a.example.org.', 'b.a.example.org.'];
    expect(publication.replace(names.map((name) => address(name, 1)))).toBe(true);
    for (const name of names) expect(read(engine, name)).toContain('192.0.2.1');
    expect(publication.replace([address('a.example.org.', 2)])).toBe(true);
    expect(names.map((name) => read(engine, name)?.includes('192.0.2.2'))).toEqual([
      undefined,
      true,
      undefined,
    ]);
    // The plugin behind has an answer, but the name is in the zone.
    expect(read(engine, 'none.example.org')).toBeUndefined();
  });

  it('takes no answer that readers cannot give, and keeps the former ones', async () => {
    const { engine, publication } = await startPublisher();
    publication.replace([address('a.example.org.', 1)]);
    const good = address('a.example.org.', 2);
    for (const [wrong, fault] of [
      [{ ...good, name: key('a.test.') }, 'not within the zones: a.test.'],
      [{ ...good, name: 'A.example.org.' as typeof good.name }, 'not a name in lower case'],
      [{ ...good, type: 0 }, 'not a type: 0'],
      [{ ...good, records: [] }, 'no records for a.example.org.'],
      [{ ...good, records: [{ ...good.records[0], ttl: -1 }] as never }, 'not a TTL: -1'],
    ] as const)
      expect(() => publication.replace([good, wrong]), fault).toThrow(fault);
    expect(read(engine, 'a.example.org')).toContain('192.0.2.1');
  });

  it('has bounds: with too many names, readers ask for all', async () => {
    const { engine, publication } = await startPublisher();
    publication.replace([address('a.example.org.', 1)]);
    function* endless() {
      for (let number = 0; ; number += 1) yield address(`n${number}.example.org.`, 1);
    }
    expect(publication.replace(endless())).toBe(false);
    expect(read(engine, 'a.example.org')).toBeUndefined();
    expect(read(engine, 'n1.example.org')).toBeUndefined();
  });

  it('counts what readers answer', async () => {
    const { engine, publication } = await startPublisher();
    publication.replace([address('a.example.org.', 1)]);
    for (let turn = 0; turn < 3; turn += 1) expect(read(engine, 'a.example.org')).toContain('192.0.2.1');
    expect(read(engine, 'b.example.org')).toBeUndefined();
    expect(engine.metrics.render()).toContain(
      `coredns_publisher_answers_total{server="${SERVER}",view=""} 3`,
    );
  });

  it('ends with its plugin', async () => {
    const { engine, publication } = await startPublisher();
    publication.replace([address('a.example.org.', 1)]);
    const { nodes } = engine.table.statistics();
    await engine.change(compilePlan(`.:53 {\n ${BEHIND}\n}\n`));
    expect(read(engine, 'a.example.org')).toBeUndefined();
    await waitUntil('no node is left', () => engine.table.statistics().nodes === nodes - 2);
  });
});
