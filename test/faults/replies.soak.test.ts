/**
 * Every reply to a hostile packet is safe to send to its source address, even a spoofed one: it answers a query, is no
 * larger than allowed, has the query's ID and question, is well-formed, and is never an internal failure.
 */
import { createSocket } from 'node:dgram';
import { frame } from '@portolan/dns/frames.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { TcpClient } from '../listen/tcp-client.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../support/portolan.ts';
import { HostilePackets } from './hostile-packets.ts';

afterEach(endAllPrograms);

const PACKETS = 60_000;
const BURST = 100;
const NAME = 'cart.shop.svc.cluster.local';
const NAMES = [
  NAME,
  `none.${NAME}`,
  'cluster.local',
  '_sql._tcp.postgres.data.svc.cluster.local',
  'docs.shop.svc.cluster.local',
  '10-244-1-1.shop.pod.cluster.local',
  '10.20.96.10.in-addr.arpa',
  '1.0.0.10.in-addr.arpa',
  'www.example.com',
];
const MAX_OCTETS = 1232;
const MIN_LIMIT = 512;
const ALLOWED: readonly number[] = [
  RCODE.NOERROR,
  RCODE.FORMERR,
  RCODE.NXDOMAIN,
  RCODE.NOTIMP,
  RCODE.REFUSED,
  RCODE.BADVERS,
];

/** What is wrong with a reply, if anything. */
function findFault(packet: Buffer, reply: Buffer): string | undefined {
  if (packet.length < 12) return 'a reply to what is too short for a query';
  if ((packet.readUInt8(2) & 0x80) !== 0) return 'a reply to a response';
  if (reply.length > MAX_OCTETS) return `a reply of ${reply.length} octets`;
  const message = decodeMessage(reply);
  const { header, edns, questions, answers } = message;
  if (!header.response) return 'a reply that is a query';
  if (header.opcode !== ((packet.readUInt8(2) >> 3) & 15)) return 'a reply with another opcode';
  if (edns === undefined && reply.length > MIN_LIMIT) return `${reply.length} octets without EDNS`;
  const rcode = header.rcode | ((edns?.extendedRcode ?? 0) << 4);
  if (!ALLOWED.includes(rcode)) return `response code ${rcode}`;
  if (questions.length > 1) return 'several questions';
  if (questions.length === 0)
    return rcode === 0 || answers.length > 0 ? 'an answer to no question' : undefined;
  const end = questionEnd(reply);
  return packet.compare(reply, 12, end, 12, end) === 0 ? undefined : 'another question';
}

function questionEnd(message: Buffer): number {
  let position = 12;
  while ((message[position] ?? 0) > 0) position += 1 + (message[position] ?? 0);
  return position + 5;
}

async function expectUnharmed(serving: Serving): Promise<void> {
  for (const transport of ['udp', 'tcp'] as const)
    expect(await askShort(serving, NAME, 'A', { transport })).toBe('10.96.20.10');
  const { text } = await look(serving, '/metrics');
  expect(text).toMatch(/^portolan_internal_errors_total 0$/m);
  expect(text).toMatch(/^portolan_reader_restarts_total 0$/m);
}

describe('replies to hostile packets', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);

  it(`are proper by UDP (seed ${seed})`, { timeout: 60_000 }, async () => {
    const serving = await servePortolan(['--example', '--udp-readers', '1']);
    await serving.program.heard('cluster listed');
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    await new Promise<void>((resolve) => socket.connect(serving.port, serving.address, resolve));
    /** Sent and perhaps to be answered, by id. An id is used again when all others were. */
    const sent = new Map<number, Buffer>();
    const faults: string[] = [];
    let replies = 0;
    socket.on('message', (reply) => {
      replies += 1;
      const packet = sent.get(reply.readUInt16BE(0));
      const fault = packet === undefined ? 'a reply to nothing' : findFault(packet, reply);
      if (fault !== undefined)
        faults.push(`${fault}: ${packet?.toString('hex')} was answered ${reply.toString('hex')}`);
      sent.delete(reply.readUInt16BE(0));
    });
    const packets = new HostilePackets(seed, NAMES);
    for (let index = 0; index < PACKETS; index += 1) {
      const packet = packets.next();
      const id = index % 0x10000;
      if (packet.length >= 2) packet.writeUInt16BE(id, 0);
      sent.set(id, packet);
      socket.send(packet);
      if (index % BURST < BURST - 1) continue;
      // Answered when all before it are, by the reader and by the main thread: so no queue of the server overflows.
      await askShort(serving, NAME, 'A');
      await askShort(serving, 'www.example.com', 'A');
    }
    // What is well-formed enough to be a query was answered, all of it; the last replies may still be on their way.
    const isQuery = (packet: Buffer) => packet.length >= 12 && (packet.readUInt8(2) & 0x80) === 0;
    const unanswered = () => [...sent.values()].filter(isQuery).map((packet) => packet.toString('hex'));
    await waitUntil('the last replies', () => unanswered().length === 0).catch(() =>
      expect(unanswered()).toEqual([]),
    );
    expect(faults.slice(0, 3)).toEqual([]);
    expect(replies).toBeGreaterThan(PACKETS / 2);
    await expectUnharmed(serving);
  });

  it(`are proper by TCP, for whole messages and for other octets (seed ${seed})`, {
    timeout: 60_000,
  }, async () => {
    const serving = await servePortolan(['--example', '--udp-readers', '1']);
    await serving.program.heard('cluster listed');
    const packets = new HostilePackets(seed, NAMES);
    for (let connection = 0; connection < 300; connection += 1) {
      const client = new TcpClient(serving.port, serving.address);
      const sent = Array.from({ length: 30 }, () => packets.next());
      for (const [id, packet] of sent.entries()) {
        if (packet.length >= 2) packet.writeUInt16BE(id, 0);
        client.send(frame(packet));
      }
      if (packets.draws.below(2) === 0) client.send(packets.draws.octets(packets.draws.below(100)));
      client.socket.end();
      await waitUntil('the end of a connection', () => client.isClosed);
      for (const reply of client.messages) {
        const packet = sent[reply.readUInt16BE(0)];
        expect(packet, reply.toString('hex')).toBeDefined();
        if (packet !== undefined && reply.length <= MIN_LIMIT)
          expect(
            findFault(packet, reply),
            `${packet.toString('hex')} ${reply.toString('hex')}`,
          ).toBeUndefined();
      }
    }
    await expectUnharmed(serving);
  });
});
