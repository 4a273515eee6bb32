/**
 * The AD bit of upstream servers: for clients that request it, and only if the servers are trusted.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, TYPE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { CLIENT, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { answerByChain } from '@portolan/kernel/engine/server-blocks/testing/one-block.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { expect, it } from 'vitest';
import { CachedResolver } from './cached-resolver.ts';

const NAME = parseName('www.example.');
const settled = () => new Promise((resolve) => setImmediate(resolve));

function queryWith(bits: { readonly ad: boolean; readonly do: boolean }): Uint8Array {
  const edns = { version: 0, udpSize: 1232, dnssecOk: bits.do, extendedRcode: 0, options: [] };
  const message: Message = {
    header: { ...QUERY_HEADER, authenticData: bits.ad },
    questions: [{ name: NAME, type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns,
  };
  return encodeMessage(message);
}

/** Whether a response from upstream, and the next one from the table, have the AD bit. */
async function answersTo(trustsAd: boolean, bits: { readonly ad: boolean; readonly do: boolean }) {
  const clock = new ManualClock();
  const names = new UpstreamNames();
  const upstream = new VirtualUpstream(clock, names.react);
  names.validates = true;
  const record = { name: NAME, class: CLASS.IN, ttl: 60, data: { kind: 'A', address: '192.0.2.1' } } as const;
  names.known.set(toKey(NAME), { rcode: 0, answers: [record], authorities: [] });
  const table = new TableWriter({ readers: 1, reservation: 32 * 2 ** 20, seed: 7 });
  const rules = [defaultRule([parseUpstream('192.0.2.53')])];
  const resolver = new CachedResolver(
    {
      forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules, trustsAd },
      cache: { kind: 'own', caching: SERVE_CACHING, serveStale: undefined },
      filteredTypes: new Set(),
    },
    {
      table,
      clock,
      log: silentLog,
      resolveName: () => Promise.reject(new Error('no names here')),
      connect: () => upstream,
    },
  );
  const handle = answerByChain((query) => resolver.answer(query), silentLog);
  const pending = handle(queryWith(bits), CLIENT);
  await settled();
  clock.advance(1);
  const response = await pending;
  const packet = new Uint8Array(512);
  packet.set(queryWith(bits));
  const reader = new TableReader(table.memory, 0);
  reader.setTime(clock.monotonic());
  const length = reader.answer(packet, 0, queryWith(bits).length, packet.length, 'udp');
  resolver.stop();
  expect(length).toBeGreaterThan(0);
  return [response ?? new Uint8Array(), packet.slice(0, length)].map(
    (octets) => decodeMessage(octets).header.authenticData,
  );
}

it.each([
  [{ ad: true, do: false }, true],
  [{ ad: false, do: true }, true],
  [{ ad: false, do: false }, false],
])('is handed on to %j where the servers are trusted: %s', async (bits, isSet) => {
  expect(await answersTo(true, bits)).toEqual([isSet, isSet]);
});

it('is cleared where they are not', async () => {
  expect(await answersTo(false, { ad: true, do: true })).toEqual([false, false]);
});
