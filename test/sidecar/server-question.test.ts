/**
 * One question over UDP: which packets count as its reply, and that it ends whatever a server sends.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Question, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askServer, type ServerEndpoint } from '@portolan/ops/sidecar/server-question.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const QUESTION: Question = {
  name: parseName('kubernetes.default.svc.cluster.local'),
  type: TYPE.A,
  class: CLASS.IN,
};

let upstream: LoopbackUpstream;
let server: ServerEndpoint;

beforeEach(async () => {
  upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
  server = { address: '127.0.0.1', port: upstream.port };
});
afterEach(() => upstream.stop());

const ask = () => askServer(server, QUESTION, systemClock);

/** A sound reply with some of its octets changed. */
function changed({ query }: ReceivedQuery, change: (octets: Uint8Array) => void): Uint8Array {
  const octets = new Uint8Array(reply(query));
  change(octets);
  return octets;
}

describe('a reply', () => {
  it('is taken with its records, and the time that it took', async () => {
    const heard = await ask();
    if (heard.kind !== 'replied') throw new Error(heard.reason);
    expect(heard.message.answers.map(({ data }) => data)).toEqual([{ kind: 'A', address: '192.0.2.1' }]);
    expect(heard.latency).toBeGreaterThan(0);
    expect(heard.latency).toBeLessThan(2_000);
    const [asked] = upstream.queries;
    expect(asked?.query.questions).toEqual([QUESTION]);
    expect(asked?.query.header.recursionDesired).toBe(true);
    expect(asked?.query.edns).toBeUndefined();
  });

  it('is taken from IPv6 as well', async () => {
    const socket = createSocket('udp6').bind(0, '::1');
    await once(socket, 'listening');
    socket.on('message', (packet, { port, address }) => {
      const answer = Buffer.from(packet);
      answer[2] = 0x80;
      socket.send(answer, port, address);
    });
    const heard = await askServer({ address: '::1', port: socket.address().port }, QUESTION, systemClock);
    socket.close();
    expect(heard.kind).toBe('replied');
  });

  it.each([
    ['has another id', 0, 0xff],
    ['is a query itself', 2, 0x80],
    ['is of another opcode', 2, 0x28],
    ['is to another name', 14, 0x01],
    ['is to another type', 50, 0x1d],
    ['has no question', 5, 0x01],
  ])('is waited past if it %s', async (_, at, bits) => {
    upstream.react = (received) => {
      received.send(
        changed(received, (octets) => {
          octets[at] = (octets[at] ?? 0) ^ bits;
        }),
      );
      received.send(reply(received.query));
    };
    const heard = await ask();
    if (heard.kind !== 'replied') throw new Error(heard.reason);
    expect(heard.message.questions).toEqual([QUESTION]);
    expect(heard.message.header).toMatchObject({ response: true, opcode: 0 });
  });

  it('from elsewhere never arrives', async () => {
    const other = createSocket('udp4');
    upstream.react = ({ query, port, send }) => {
      const forged = reply(query, { answers: [] });
      other.send(forged, port, '127.0.0.1', () => send(reply(query)));
    };
    const heard = await ask();
    other.close();
    expect(heard.kind === 'replied' && heard.message.answers).toHaveLength(1);
  });

  it('that breaks off is a failure at once', async () => {
    upstream.react = ({ query, send }) => send(reply(query).subarray(0, -3));
    expect(await ask()).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(/^malformed reply: /),
    });
  });
});

describe('no reply', () => {
  it('is a failure after two seconds', async () => {
    upstream.react = () => {};
    const clock = new ManualClock();
    const asked = askServer(server, QUESTION, clock);
    await waitUntil('the query to arrive', () => upstream.queries.length === 1);
    clock.advance(2_000);
    const heard = await asked;
    const port = upstream.queries[0]?.port;
    expect(heard).toEqual({
      kind: 'failed',
      reason: `read udp 127.0.0.1:${port}->127.0.0.1:${server.port}: i/o timeout`,
    });
    expect(clock.pending).toBe(0);
  });

  it('is told at once where no server listens', async () => {
    const port = await findFreePort();
    const heard = await askServer({ address: '127.0.0.1', port }, QUESTION, new ManualClock());
    expect(heard).toMatchObject({
      kind: 'failed',
      reason: expect.stringMatching(
        /^read udp 127\.0\.0\.1:\d+->127\.0\.0\.1:\d+: read: connection refused$/,
      ),
    });
  });

  it('is told at once where there is no way to', async () => {
    const heard = await askServer({ address: '255.255.255.255', port: 53 }, QUESTION, new ManualClock());
    expect(heard).toEqual({
      kind: 'failed',
      reason: 'dial udp 255.255.255.255:53: connect: permission denied',
    });
  });
});

it('comes from another port with another id each time', async () => {
  for (let turn = 0; turn < 20; turn += 1) await ask();
  const ports = new Set(upstream.queries.map(({ port }) => port));
  const ids = new Set(upstream.queries.map(({ query }) => query.header.id));
  expect(ports.size).toBeGreaterThan(10);
  expect(ids.size).toBeGreaterThan(10);
});

it('ends with a result whatever a server sends', async () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const edits = fc.array(fc.tuple(fc.nat(80), octet), { maxLength: 6 });
  const packets = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 600 }).map((octets) => ({ kind: 'raw' as const, octets })),
      // Near enough to a reply to be read as one.
      fc.tuple(edits, fc.nat(120)).map(([changes, length]) => ({ kind: 'near' as const, changes, length })),
    ),
    { maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(packets, async (hostile) => {
      upstream.react = (received) => {
        for (const packet of hostile) {
          if (packet.kind === 'raw') received.send(packet.octets);
          else {
            const octets = changed(received, (whole) => {
              for (const [at, value] of packet.changes) if (at >= 2 && at < whole.length) whole[at] = value;
            });
            received.send(octets.subarray(0, Math.max(12, octets.length - packet.length)));
          }
        }
        received.send(reply(received.query));
      };
      const heard = await ask();
      if (heard.kind === 'failed') expect(heard.reason).toMatch(/^malformed reply: /);
      else expect(heard.message.header.response).toBe(true);
    }),
    { numRuns: 300 },
  );
});
