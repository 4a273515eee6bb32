/**
 * Upstream servers that do less than the standards ask for: what the clients of every role get.
 */
import { isExtendedError } from '@portolan/dns/extended-error.ts';
import { frame } from '@portolan/dns/frames.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { type Message, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { ask, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { expect, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { ROLES, startRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

/** Milliseconds that the server works on a query. */
const WORK = 5;
const ADDRESS = '192.0.2.1';

/** What the server does for a name, by the first label that it knows. */
function makeServer(): React {
  const seen = new WeakSet<object>();
  /** Over TCP: the first query of a connection is answered, and the connection closed. */
  const answerOne = ({ query, send, connection }: ReceivedQuery) => {
    if (connection === undefined) return send(truncated(query));
    if (seen.has(connection)) return;
    seen.add(connection);
    setTimeout(() => connection.end(frame(reply(query))), WORK);
  };
  return (received) => {
    const { query, send, connection } = received;
    const name = query.questions[0]?.name ?? '.';
    const [, kind = ''] = name.split('.');
    if (kind === 'one') answerOne(received);
    else if (kind === 'closed') connection === undefined ? send(truncated(query)) : connection.destroy();
    else if (kind === 'loop')
      send(reply(query, { answers: [alias(name, 'b.loop.'), alias('b.loop.', name)] }));
    else if (kind.startsWith('chain'))
      send(reply(query, { answers: chainFrom(query, Number(kind.slice(5))) }));
    else send(reply(query));
  };
}

const truncated = (query: Message) =>
  reply(query, { answers: [], header: { ...replyMessage(query).header, truncated: true } });

function alias(owner: string, target: string): ResourceRecord {
  return { name: parseName(owner), class: 1, ttl: 60, data: { kind: 'CNAME', target: parseName(target) } };
}

function chainFrom(query: Message, count: number): readonly ResourceRecord[] {
  const names = [
    query.questions[0]?.name ?? '',
    ...Array.from({ length: count }, (_, step) => `c${step}.test.`),
  ];
  const aliases = names.slice(1).map((target, step) => alias(names[step] ?? '', target));
  return [...aliases, { ...makeAddressRecord(query, ADDRESS), name: parseName(names.at(-1) ?? '') }];
}

const addressesIn = ({ answers }: Message) =>
  answers.flatMap(({ data }) => (data.kind === 'A' ? [data.address] : []));

/** The response code, TC if set, and the codes of extended errors. */
async function askOutcome(server: DnsServer, name: string, transport: 'udp' | 'tcp'): Promise<string> {
  const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };
  const answer = decodeMessage(await exchange(server, { ...makeQuery(name, 'A'), edns }, { transport }));
  const errors = (answer.edns?.options ?? []).filter(isExtendedError).map(({ data }) => `EDE ${data[1]}`);
  const cut = answer.header.truncated ? ['TC'] : [];
  return [`rcode ${answer.header.rcode}`, ...cut, `${answer.answers.length} records`, ...errors].join(', ');
}

/** Each of many clients at once over TCP is answered, though each connection takes one query. */
async function expectAnswers(server: DnsServer): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}-${round}.one.test`);
    const answers = await Promise.all(names.map((name) => ask(server, name, 'A', { transport: 'tcp' })));
    expect(answers.map(addressesIn)).toEqual(names.map(() => [ADDRESS]));
    expect(answers.some(({ header }) => header.truncated)).toBe(false);
  }
}

/** Aliases pass with their address, at both speeds and from the cache. */
async function expectAliases(server: DnsServer): Promise<void> {
  for (const [count, transport] of [
    [8, 'udp'],
    [17, 'udp'],
    [17, 'udp'],
    [300, 'tcp'],
    [300, 'tcp'],
  ] as const) {
    const answer = await ask(server, `www.chain${count}.test`, 'A', { transport });
    expect([answer.header.rcode, answer.answers.length]).toEqual([RCODE.NOERROR, count + 1]);
    expect(addressesIn(answer)).toEqual([ADDRESS]);
  }
}

async function start(role: (typeof ROLES)[number], flags: readonly string[] = []): Promise<DnsServer> {
  const upstream = await LoopbackUpstream.start(makeServer());
  onTestFinished(() => upstream.stop());
  onTestFinished(endAllPrograms);
  return await startRole(role, { upstream: upstream.port }, { flags });
}

for (const role of ROLES)
  itWithTool(role === 'skydns' ? ['etcd'] : [], `${role} answers, or says that it cannot`, async () => {
    const server = await start(role);
    await expectAnswers(server);
    await expectAliases(server);
    expect(await askOutcome(server, 'udp.closed.test', 'udp')).toBe('rcode 0, TC, 0 records');
    // The other two send no codes of their own.
    const formatEde = (code: number) => (role === 'dnsmasq' || role === 'skydns' ? '' : `, EDE ${code}`);
    // To a client over TCP, TC without records would look like a name without records.
    expect(await askOutcome(server, 'tcp.closed.test', 'tcp')).toBe(`rcode 2, 0 records${formatEde(23)}`);
    expect(await askOutcome(server, 'a.loop.test', 'udp')).toBe(`rcode 2, 0 records${formatEde(0)}`);
  });

itWithTool([], 'coredns -compat answers as CoreDNS', async () => {
  const server = await start('coredns', ['-compat=1.14']);
  await expectAnswers(server);
  await expectAliases(server);
  expect(await askOutcome(server, 'udp.closed.test', 'udp')).toBe('rcode 0, TC, 0 records');
  expect(await askOutcome(server, 'tcp.closed.test', 'tcp')).toBe('rcode 2, 0 records');
  expect(await askOutcome(server, 'a.loop.test', 'udp')).toBe('rcode 0, 2 records');
});
