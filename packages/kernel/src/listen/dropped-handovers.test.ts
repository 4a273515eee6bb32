/**
 * Questions that a reader has forwarded, and has no room for when it hands them over to the main thread.
 */
import { createSocket } from 'node:dgram';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { NO_FLAG_CHANGE } from '../forward/caching/answer-form.ts';
import { ReaderPath } from '../forward/reader-path/reader-path.ts';
import type { OpenRoute } from '../forward/reader-path/reader-policy.ts';
import { writeQuery } from '../forward/transport/query-message.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import { closeDescriptor } from '../socket/descriptor.ts';
import { openUdpSocket } from '../socket/udp-socket.ts';
import { TableReader } from '../table/reader.ts';
import { DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS } from '../table/types.ts';
import { TableWriter } from '../table/writer.ts';
import { DROPPED, ListenerDrops, makeListenerDrops } from './listener-drops.ts';
import { makeQuestionRing } from './question-ring.ts';
import { makeReaderCounters } from './reader-counters.ts';
import { ORDER, ReaderLoop } from './reader-loop.ts';

const ROUTE = 1;

function openSocket() {
  const socket = openUdpSocket({ address: '127.0.0.1', port: 0 }, 5000);
  onTestFinished(() => closeDescriptor(socket.fd));
  return socket;
}

async function sendQueries(names: readonly string[], { port, address }: SocketAddress): Promise<void> {
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  const terms = {
    type: TYPE.A,
    class: CLASS.IN,
    dnssecOk: false,
    checkingDisabled: false,
    recursionDesired: true,
  };
  for (const name of names) {
    const { octets } = writeQuery({ name: parseName(name), ...terms }, undefined);
    await new Promise((resolve) => client.send(octets, port, address, resolve));
  }
}

/** To a server without EDNS, whose replies are passed on. */
function makeRoute(peer: SocketAddress): OpenRoute {
  return {
    number: ROUTE,
    group: 0,
    servers: [{ number: 0, peer, stream: undefined, usesEdns: false }],
    selection: 'first',
    udpSize: 512,
    trustsAd: false,
    passesOptions: false,
    limit: 100,
    deadline: 10_000,
    exceptions: [],
    minLabels: 0,
    believesDenials: true,
    servesStaleAtOnce: false,
    form: { kind: 'as-sent', caching: undefined, rotates: false, flags: NO_FLAG_CHANGE, dropsOpt: false },
    cacheView: undefined,
    outcomes: {
      forwarded: 0,
      byPath: false,
      kept: { positive: 0, negative: 0 },
      repeated: { positive: 0, negative: 0 },
    },
  };
}

it('are counted where their socket says', async () => {
  const socket = openSocket();
  const silent = openSocket();
  const table = new TableWriter({ readers: 1, reservation: 32 * 2 ** 20, seed: 7 });
  table.changeView(DEFAULT_VIEW, { ...DEFAULT_VIEW_SETTINGS, route: ROUTE });
  const drops = makeListenerDrops();
  const data = {
    table: table.memory,
    reader: 0,
    sockets: [socket.fd],
    groups: [0],
    clientRules: [],
    proxies: [],
    drops: [drops],
    packetSize: 512,
    udpSize: 512,
    // It ends after its first batch.
    orders: new SharedArrayBuffer(4),
    counters: makeReaderCounters(),
    // There is room for one question.
    ring: makeQuestionRing(256),
    events: [],
    forwarding: {
      ...new ReaderPath(1, systemClock).createReaderData(0),
      policy: { number: 0, routes: [makeRoute(silent.endpoint)] },
    },
  };
  Atomics.store(new Int32Array(data.orders), 0, ORDER.STOP);
  const faults: unknown[] = [];
  const messages = {
    reportFault: (error: unknown) => void faults.push(error),
    reportDeafness: () => {},
    reportFlood: () => {},
    reportHeader: () => {},
    receivePolicy: () => undefined,
  };
  await sendQueries(['a.example.', 'b.example.', 'c.example.'], socket.endpoint);
  new ReaderLoop(data, new TableReader(table.memory, 0), messages).run();
  const counts = new ListenerDrops(drops);
  expect(faults).toEqual([]);
  expect([counts.read(DROPPED.QUERIES), counts.read(DROPPED.RESPONSES)]).toEqual([2, 0]);
});
