/**
 * Servers whose reply depends on whether the query has EDNS.
 */
import { encodePassedOn } from '@portolan/dns/passing-options.ts';
import { type Edns, type Message, RCODE } from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ask, forwarderTo, listAddresses } from './forwarder-on-loopback.ts';

async function startServer(react: React): Promise<LoopbackUpstream> {
  const server = await LoopbackUpstream.start(react);
  onTestFinished(() => server.stop());
  return server;
}

function makeForwarder(...servers: readonly LoopbackUpstream[]) {
  const forwarder = forwarderTo(servers.map(({ address }) => address));
  onTestFinished(() => forwarder.stop());
  return forwarder;
}

/** Whether the queries for a name had EDNS, without repeats: on a busy machine a query may be overdue. */
function listEdnsUse({ queries }: LoopbackUpstream, name: string): readonly boolean[] {
  const asked = queries.filter(({ query }) => query.questions[0]?.name === name);
  return [...new Set(asked.map(({ query }) => query.edns !== undefined))];
}

/** A reply without records, with this response code. */
function coded(query: Message, code: number, hasOpt: boolean): Uint8Array {
  const opt: Edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: code >> 4, options: [] };
  const header = { ...replyMessage(query).header, rcode: code & 15 };
  return reply(query, { header, answers: [], edns: hasOpt ? opt : undefined });
}

const whenAskedWithEdns =
  (code: number, hasOpt: boolean): React =>
  ({ query, send }) =>
    send(query.edns === undefined ? reply(query) : coded(query, code, hasOpt));

it.each([
  ['FORMERR', RCODE.FORMERR, false],
  ['FORMERR with OPT', RCODE.FORMERR, true],
  ['NOTIMP', RCODE.NOTIMP, false],
  ['SERVFAIL', RCODE.SERVFAIL, false],
  ['REFUSED', RCODE.REFUSED, false],
  ['BADVERS', 16, true],
  ['BADCOOKIE', 23, true],
  ['a code that nobody knows', 48, true],
  ['NXDOMAIN with the bits of another code', 16 + RCODE.NXDOMAIN, true],
])('is asked again without EDNS after %s, and without it from then on', async (_, code, hasOpt) => {
  const server = await startServer(whenAskedWithEdns(code, hasOpt));
  const forwarder = makeForwarder(server);
  expect(listAddresses(await ask(forwarder, 'one.example.'))).toEqual(['192.0.2.1']);
  expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['192.0.2.1']);
  expect(listEdnsUse(server, 'one.example.')).toEqual([true, false]);
  expect(listEdnsUse(server, 'two.example.')).toEqual([false]);
});

it.each([
  ['SERVFAIL', RCODE.SERVFAIL],
  ['REFUSED', RCODE.REFUSED],
])('is not after %s if it has answered with EDNS before', async (_, code) => {
  const server = await startServer(({ query, send }) =>
    send(query.questions[0]?.name === 'good.example.' ? reply(query) : coded(query, code, false)),
  );
  const forwarder = makeForwarder(server);
  await ask(forwarder, 'good.example.');
  const bad = await ask(forwarder, 'bad.example.');
  expect(bad).toMatchObject({ kind: 'reply', message: { header: { rcode: code } } });
  expect(listEdnsUse(server, 'bad.example.')).toEqual([true]);
});

it('makes the next server be asked if only such a code comes, and the question fail if no server has another', async () => {
  const bad = await startServer(({ query, send }) => send(coded(query, 16, true)));
  const good = await startServer(({ query, send }) => send(reply(query)));
  expect(listAddresses(await ask(makeForwarder(bad, good), 'www.example.'))).toEqual(['192.0.2.1']);
  expect(await ask(makeForwarder(bad, bad), 'www.example.')).toMatchObject({
    kind: 'failed',
    reason: 'unusable',
    detail: `${bad.address}: BADVERS`,
  });
});

it('is asked without the options of a client that sends some, if it drops them', async () => {
  const server = await startServer(({ query, send }) => {
    if (query.edns === undefined) send(reply(query));
  });
  const options = encodePassedOn([{ code: 3, data: Buffer.alloc(0) }]);
  const answered = await ask(makeForwarder(server), 'www.example.', { options });
  expect(listAddresses(answered)).toEqual(['192.0.2.1']);
  expect(listEdnsUse(server, 'www.example.')).toEqual([true, false]);
});
