/**
 * Rates of a plugin from outside: readers answer the names that they hold for, and listeners get them by zone. Where blocks are chosen
 * by more than the name, the chain applies them.
 */
import { guardPlugin } from '@portolan/corefile/definition/guard-plugin.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import { expect, it, onTestFinished } from 'vitest';
import rrl from '../../packages/rrl/src/plugin.ts';
import { BLOCK, makeCursor, makeUse } from '../../packages/testing/src/uses.ts';
import '../support/load-all-plugins.ts';
import { makePacket, SERVER } from './reader-subject.ts';

const GUARDED = guardPlugin(rrl, 'acl');
const CLIENT = { address: '192.0.2.77', port: 5353 };
const SEEN = 'hosts {\n 192.0.2.7 own.example.org\n fallthrough\n }';

/** The plan of a Corefile with `rrl` in front of its first blocks. @param lines of `rrl` in each */
function planWith(corefile: string, ...lines: readonly (readonly string[])[]): EnginePlan {
  const plan = compilePlan(corefile);
  const blocks = plan.blocks.map((block, place) => {
    const own = lines[place];
    if (own === undefined) return block;
    const options = rrl.read(makeCursor(makeUse('rrl', ...own)), { ...BLOCK, zones: block.zones });
    return { ...block, plugins: [usePlugin(GUARDED, options), ...block.plugins] };
  });
  return { ...plan, blocks };
}

async function start(plan: EnginePlan) {
  const clock = new ManualClock();
  const engine = new Engine(plan, { readers: 0, version: 'test', clock, log: silentLog });
  onTestFinished(() => engine.stop());
  await engine.start();
  return engine;
}

const RATES = ['responses-per-second 1', 'slip-ratio 2'];

/** Whether a reader answers it. */
function isRead(engine: Engine, name: string): boolean {
  const at = 8192;
  const octets = new Uint8Array(at + 32);
  const packet = makePacket(name, 'A');
  octets.set(packet);
  octets.set(encodeSocketAddress(CLIENT), at);
  const group = engine.getListenerGroupNumber(SERVER);
  return engine.reader.answer(octets, 0, packet.length, 4096, 'udp', group, at) !== VERDICT.ASK;
}

async function askChain(engine: Engine, name: string, transport: 'udp' | 'tcp' = 'udp'): Promise<string> {
  const handle = engine.serverBlocks.findQueryHandler(SERVER);
  const response = await handle?.(makePacket(name, 'A'), { ...CLIENT, transport });
  if (response === undefined) return 'dropped';
  const { header, answers } = decodeMessage(response);
  return header.truncated ? 'truncated' : `${answers.length} answers`;
}

it('leaves names to readers, and tells the listeners of its zones', async () => {
  const corefile = `example.org:53 {\n ${SEEN}\n}\nfree.example.org:53 {\n whoami\n}\n`;
  const engine = await start(planWith(corefile, RATES));
  expect(isRead(engine, 'own.example.org')).toBe(true);
  const zones = engine.serverBlocks.limits.listRatedZones(SERVER);
  expect(zones.map(({ zone, rates }) => [zone, rates.length])).toEqual([
    ['example.org.', 1],
    ['free.example.org.', 0],
  ]);
  // The chain has no rate of its own.
  for (let turn = 0; turn < 3; turn += 1) expect(await askChain(engine, 'own.example.org')).toBe('1 answers');
});

it('holds for zones below those of a block, and stops at other blocks', async () => {
  const corefile = '.:53 {\n whoami\n}\na.test:53 {\n whoami\n}\n';
  const plan = compilePlan(corefile);
  const options = rrl.read(makeCursor(makeUse('rrl test', 'requests-per-second 5')), BLOCK);
  const [first, ...others] = plan.blocks;
  if (first === undefined) throw new Error('no block');
  const blocks = [{ ...first, plugins: [usePlugin(GUARDED, options), ...first.plugins] }, ...others];
  const engine = await start({ ...plan, blocks });
  const rated = new Map(
    engine.serverBlocks.limits.listRatedZones(SERVER).map(({ zone, rates }) => [zone, rates.length]),
  );
  expect(rated).toEqual(
    new Map([...['.', 'a.test.'].map((zone) => [key(zone), 0] as const), [key('test.'), 1]]),
  );
});

it('keeps its counts over a plan that changes nothing about it, and counts what exceeded it once', async () => {
  const corefile = `example.org:53 {\n ${SEEN}\n prometheus localhost:0\n}\n`;
  const engine = await start(planWith(corefile, RATES));
  const [before] = engine.serverBlocks.limits.listRatedZones(SERVER);
  const words = new Int32Array(before?.rates[0]?.exceeded ?? new SharedArrayBuffer(8));
  words.set([2, 3]);
  await engine.change(planWith(corefile.replace('192.0.2.7', '192.0.2.8'), RATES));
  expect(engine.serverBlocks.limits.listRatedZones(SERVER)[0]?.rates[0]).toBe(before?.rates[0]);
  const labels = `{server="${SERVER}",view=""}`;
  const text = engine.metrics.render();
  expect(text).toContain(`coredns_rrl_requests_exceeded_total${labels} 2`);
  expect(text).toContain(`coredns_rrl_responses_exceeded_total${labels} 3`);
  await engine.change(planWith(corefile, ['responses-per-second 2']));
  expect(engine.serverBlocks.limits.listRatedZones(SERVER)[0]?.rates[0]).not.toBe(before?.rates[0]);
  expect(engine.metrics.render()).toContain(`coredns_rrl_requests_exceeded_total${labels} 2`);
});

it('holds in the chain where a view says which block answers', async () => {
  const view = "view v {\n expr incidr(client_ip(), '192.0.2.0/24') && name() != ''\n }";
  const block = (own: string) => `example.org:53 {\n ${own}\n ${SEEN}\n}\n`;
  const engine = await start(planWith(`${block(view)}${block('')}`, RATES));
  expect(engine.serverBlocks.limits.listRatedZones(SERVER)).toEqual([]);
  expect(isRead(engine, 'own.example.org')).toBe(false);
  const replies: string[] = [];
  for (let turn = 0; turn < 5; turn += 1) replies.push(await askChain(engine, 'own.example.org'));
  expect(replies).toEqual(['1 answers', 'dropped', 'truncated', 'dropped', 'truncated']);
  expect(await askChain(engine, 'own.example.org', 'tcp')).toBe('1 answers');
});

function key(name: string) {
  return toKey(parseName(name));
}
