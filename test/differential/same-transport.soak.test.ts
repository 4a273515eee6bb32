/**
 * Running programs give the same response to a hostile query over UDP, where readers answer and forward, and over TCP, where the main
 * thread does.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { ACCEPT, accept } from '@portolan/dns/acceptance.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { YesUpstream } from '../engine/yes-upstream.ts';
import { TcpClient } from '../listen/tcp-client.ts';
import { startCoredns, startNodeCache, startServe } from '../resolver/forwarding-programs.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { seed } from '../support/seed.ts';
import { describeResponse } from './comparison.ts';
import { MutatedPackets } from './mutated-packets.ts';

afterEach(endAllPrograms);

const PACKETS = 400;
const NAMES = [
  'www.example.com',
  'a.b.c.example.org',
  'localhost',
  'version.bind',
  '.',
  'own.hosts.example',
  'cart.shop.svc.cluster.local',
  'missing.shop.svc.cluster.local',
  '10.20.96.10.in-addr.arpa',
];

/** The AA flag in the third octet of a message. */
const AUTHORITATIVE = 4;

/**
 * A response without what tells fresh answers from cached ones. Which of two equal questions finds the answer cached is a matter of
 * time: denials without an SOA record are kept for 5 s. AA is set in cached answers of a Corefile, and only fresh ones have the EDNS
 * options of the upstream server.
 */
function describe(response: Uint8Array | undefined): unknown {
  const [flags] = response?.subarray(2) ?? [];
  if (response !== undefined && flags !== undefined) response[2] = flags & ~AUTHORITATIVE;
  return JSON.parse(
    JSON.stringify(describeResponse(response), (key, value) => (key === 'options' ? undefined : value)),
  );
}

/** Otherwise some queries of a Corefile go upstream by the transport of the client. */
const BY_UDP = ' {\n prefer_udp\n }';

const PROGRAMS = new Map([
  ['serve', (upstream: string) => startServe(upstream)],
  [
    'coredns',
    (upstream: string) =>
      startCoredns(
        `errors\n hosts {\n 192.0.2.9 own.hosts.example\n fallthrough\n }\n cache\n forward . ${upstream}${BY_UDP}`,
      ),
  ],
  ['node-cache', (upstream: string) => startNodeCache(upstream, BY_UDP)],
]);

/** Packets that a server answers, with numbers of their own as their ids. */
function answerablePackets(): readonly Uint8Array[] {
  const packets = new MutatedPackets(seed, NAMES);
  const answerable: Uint8Array[] = [];
  while (answerable.length < PACKETS) {
    const packet = packets.next();
    if (accept(packet, 0, packet.length) === ACCEPT.DROP) continue;
    packet.set([answerable.length >> 8, answerable.length & 0xff]);
    answerable.push(packet);
  }
  return answerable;
}

type Responses = ReadonlyMap<number, Uint8Array>;

const readId = (message: Uint8Array) => ((message[0] ?? 0) << 8) | (message[1] ?? 0);

async function askByUdp({ address, port }: DnsServer, packets: readonly Uint8Array[]): Promise<Responses> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.connect(port, address);
  await once(socket, 'connect');
  const responses = new Map<number, Uint8Array>();
  socket.on('message', (message) => responses.set(readId(message), message));
  for (const [id, packet] of packets.entries()) {
    socket.send(packet);
    await waitUntil(`a response to ${Buffer.from(packet).toString('hex')}`, () => responses.has(id));
  }
  return responses;
}

async function askByTcp({ address, port }: DnsServer, packets: readonly Uint8Array[]): Promise<Responses> {
  const client = new TcpClient(port, address);
  for (const packet of packets) {
    client.send(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet]));
    const count = client.messages.length + 1;
    await client.waitForMessages(count);
  }
  return new Map(client.messages.map((message) => [readId(message), message]));
}

it.each([...PROGRAMS])('%s', async (_, start) => {
  const upstream = await new YesUpstream(systemClock, () => false).listen();
  const { server } = await start(`127.0.0.1:${upstream}`);
  const packets = answerablePackets();
  // What is answered first by an upstream server comes from the cache afterwards.
  await askByUdp(server, packets);
  const byUdp = await askByUdp(server, packets);
  const byTcp = await askByTcp(server, packets);
  const differences = packets.flatMap((packet, id) => {
    const udp = describe(byUdp.get(id));
    const tcp = describe(byTcp.get(id));
    const isCut = ((byUdp.get(id)?.[2] ?? 0) & 2) !== 0;
    return isCut || JSON.stringify(udp) === JSON.stringify(tcp)
      ? []
      : [{ query: Buffer.from(packet).toString('hex'), udp, tcp }];
  });
  expect(differences, `with seed ${seed}`).toEqual([]);
});
