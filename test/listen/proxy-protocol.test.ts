/**
 * Headers of the PROXY protocol on real sockets: by batches, by datagrams, over TCP and before TLS. The client of the header is the one
 * that rules and the chain see, and the answer goes to the proxy.
 */

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import { type ClientRules, shareClientRules } from '@portolan/kernel/listen/client-rules.ts';
import { listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import type { ProxyProtocolPlan } from '@portolan/kernel/listen/proxy-protocol/proxy-policy.ts';
import { writeHeader, writeRawHeader } from '@portolan/kernel/listen/proxy-protocol/testing/write-header.ts';
import { listenOnTcp, type TcpListener, type TcpOptions } from '@portolan/kernel/listen/tcp.ts';
import type { UdpListener } from '@portolan/kernel/listen/udp-listener.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { bundleThread } from '../support/bundle-thread.ts';
import { answerAuthoritatively, ScriptedAnswers } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';
import { TcpClient } from './tcp-client.ts';

const SERVER = '127.0.0.1';
/** A trusted proxy, and another sender. */
const PROXY = '127.0.7.7';
const STRANGER = '127.0.7.8';
const CLIENT = { address: '192.0.2.77', port: 4711 };
const CLIENT_6 = { address: '2001:db8::77', port: 4712 };
const TRUSTING: ProxyProtocolPlan = {
  trusted: [{ address: PROXY, prefix: 32 }],
  others: 'ignore',
  sessions: undefined,
};
const SESSIONS: ProxyProtocolPlan = { ...TRUSTING, sessions: { milliseconds: 1000, max: 2 } };
/** Refuses the client, and all but the proxies. */
const RULES: ClientRules = {
  access: [{ clients: { address: CLIENT.address, prefix: 32 }, action: 'refuse' }],
  queryRate: undefined,
  responseRate: undefined,
  slip: 0,
  prefixLengths: { ipv4: 32, ipv6: 128 },
};

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

interface Started {
  readonly listener: UdpListener;
  readonly port: number;
  /** The clients that the chain has seen. */
  readonly seen: Client[];
}

type Changes = Partial<{
  readonly proxies: ProxyProtocolPlan;
  readonly clock: ManualClock;
  readonly rules: ClientRules;
}>;

async function listen(kind: 'batches' | 'datagrams', changes: Changes = {}): Promise<Started> {
  const { proxies = TRUSTING, clock = systemClock, rules } = changes;
  const seen: Client[] = [];
  const handleQuery = async (query: Uint8Array, client: Client) => {
    seen.push(client);
    return answerAuthoritatively(query);
  };
  const clientRules = shareClientRules(rules, 4711);
  const addresses = [{ address: SERVER, port: 0, proxies, clientRules }];
  const listener =
    kind === 'batches'
      ? await startUdp({ threadEntry, addresses, handleQuery })
      : await listenByDatagrams({
          addresses,
          handleQuery,
          proxies,
          clientRules,
          answers: new ScriptedAnswers(),
          udpSize: 1232,
          clock,
          log: silentLog,
        });
  if (kind === 'datagrams') onTestFinished(() => listener.stop(0));
  return { listener, port: getPort(listener), seen };
}

const readRcode = (message: Uint8Array): number => (message[3] ?? 0) & 15;
const countBadHeaders = (listener: UdpListener): number =>
  listener.count().readers.reduce((sum, { badHeaders }) => sum + badHeaders, 0);
const pick = ({ address, port }: Client) => ({ address, port });

/** Asks with a header before the query. */
async function ask(port: number, header: Uint8Array, name: string, from = PROXY, wait = 5000) {
  const proxy = await startClient('udp4', from);
  return await proxy.ask(name, { address: SERVER, port }, { deadline: wait, before: header });
}

describe.each(['batches', 'datagrams'] as const)('over UDP by %s', (kind) => {
  it.each([CLIENT, CLIENT_6])('the chain sees the client of the header: %o', async (client) => {
    const { port, seen } = await listen(kind);
    await ask(port, writeHeader({ source: client, tlvs: Buffer.from('040001ff', 'hex') }), 'slow');
    expect(seen.map(pick)).toEqual([client]);
  });

  it.each(['fast', 'slow'])(
    'rules judge the client of the header, and the proxy gets the answer: %s',
    async (name) => {
      const { port } = await listen(kind, { rules: RULES });
      const other = { address: '192.0.2.78', port: 1 };
      expect(readRcode((await ask(port, writeHeader({ source: CLIENT }), name)).message)).toBe(5);
      expect(readRcode((await ask(port, writeHeader({ source: other }), name)).message)).toBe(0);
      expect(readRcode((await ask(port, writeHeader({ source: CLIENT_6 }), name)).message)).toBe(0);
      expect(readRcode((await ask(port, Buffer.alloc(0), name)).message)).toBe(0);
    },
  );

  it('many clients in one batch get their own answers', async () => {
    const { port, seen } = await listen(kind);
    const proxy = await startClient('udp4', PROXY);
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    await Promise.all(
      numbers.map((number) => {
        const source = { address: `192.0.2.${number}`, port: 1000 + number };
        // Some have no header, and some are for the chain.
        const header = number % 3 === 0 ? Buffer.alloc(0) : writeHeader({ source });
        return proxy.ask(
          number % 2 === 0 ? `slow${number}` : `fast${number}`,
          { address: SERVER, port },
          { before: header },
        );
      }),
    );
    expect(proxy.strays).toBe(0);
    const told = numbers.filter((number) => number % 2 === 0 && number % 3 !== 0);
    expect(
      seen
        .map(({ address }) => address)
        .filter((address) => address !== PROXY)
        .sort(),
    ).toEqual(told.map((number) => `192.0.2.${number}`).sort());
  });

  it('a header of the proxy itself tells no client', async () => {
    const { port, seen } = await listen(kind);
    await ask(port, writeRawHeader('20000000'), 'slow');
    await ask(port, writeHeader({ source: CLIENT, command: 'local' }), 'slow');
    expect(seen.map(({ address }) => address)).toEqual([PROXY, PROXY]);
  });

  it.each([
    ['ignore', STRANGER],
    ['reject', undefined],
    ['skip', undefined],
  ] as const)('a stranger cannot claim to be another client: %s', async (others, client) => {
    const { port, seen, listener } = await listen(kind, { proxies: { ...TRUSTING, others } });
    const asked = ask(
      port,
      writeHeader({ source: CLIENT }),
      'slow',
      STRANGER,
      client === undefined ? 300 : 5000,
    );
    if (client === undefined) await expect(asked).rejects.toThrow('no answer');
    else await asked;
    expect(seen.map(({ address }) => address)).toEqual(client === undefined ? [] : [client]);
    expect(countBadHeaders(listener)).toBe(others === 'reject' ? 1 : 0);
    // Without a header, all of them answer.
    await ask(port, Buffer.alloc(0), 'fast', STRANGER);
  });

  it.each([
    ['version 1', Buffer.from('PROXY TCP4 192.0.2.77 192.0.2.1 4711 53\r\n')],
    ['a header of a stream', writeHeader({ source: CLIENT, protocol: 'stream' })],
    ['a malformed header', writeRawHeader('2113000c')],
    ['a header that is cut off', writeRawHeader('2112ffff')],
  ])('%s is dropped and counted', async (_, header) => {
    const { port, listener, seen } = await listen(kind);
    for (const from of [PROXY, STRANGER])
      await expect(ask(port, header, 'slow', from, 200)).rejects.toThrow('no answer');
    expect(countBadHeaders(listener)).toBe(2);
    expect(seen).toEqual([]);
    await ask(port, writeHeader({ source: CLIENT }), 'fast');
  });
});

describe('sessions of datagrams', () => {
  it('give the following datagrams of a sender the client of the first', async () => {
    const clock = new ManualClock();
    const { port, seen, listener } = await listen('datagrams', { proxies: SESSIONS, clock });
    const proxy = await startClient('udp4', PROXY);
    const askThrough = () => proxy.ask('slow', { address: SERVER, port });
    await askThrough();
    proxy.send(writeHeader({ source: CLIENT }), { address: SERVER, port });
    await waitUntil('the header', () => listener.count().readers.some(({ packets }) => packets === 2));
    await askThrough();
    clock.advance(900);
    await askThrough();
    clock.advance(900);
    await askThrough();
    clock.advance(1000);
    await askThrough();
    const { address } = CLIENT;
    expect(seen.map((client) => client.address)).toEqual([PROXY, address, address, address, PROXY]);
  });

  it('end for the sender that was silent for longest', async () => {
    const { port, seen } = await listen('datagrams', { proxies: SESSIONS });
    const senders = [
      await startClient('udp4', PROXY),
      await startClient('udp4', PROXY),
      await startClient('udp4', PROXY),
    ];
    const [first, second, third] = senders;
    await first?.ask('fast', { address: SERVER, port }, { before: writeHeader({ source: CLIENT }) });
    await second?.ask('fast', { address: SERVER, port }, { before: writeHeader({ source: CLIENT }) });
    await first?.ask('fast', { address: SERVER, port });
    await third?.ask('fast', { address: SERVER, port }, { before: writeHeader({ source: CLIENT }) });
    for (const sender of senders) await sender.ask('slow', { address: SERVER, port });
    expect(seen.map(({ address }) => address)).toEqual([CLIENT.address, PROXY, CLIENT.address]);
  });
});

async function listenByStream(changes: Partial<TcpOptions> = {}): Promise<{
  readonly listener: TcpListener;
  readonly port: number;
  readonly seen: Client[];
}> {
  const seen: Client[] = [];
  const listener = await listenOnTcp({
    addresses: [{ address: SERVER, port: 0 }],
    takeover: false,
    native: true,
    answers: new ScriptedAnswers(),
    handleQuery: async (query, client) => {
      seen.push(client);
      return answerAuthoritatively(query);
    },
    udpSize: 1232,
    proxies: TRUSTING,
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => listener.stop(0));
  return { listener, port: listener.endpoints[0]?.port ?? 0, seen };
}

const STREAM_HEADERS = [
  ['of version 1', Buffer.from('PROXY TCP4 192.0.2.77 198.51.100.53 4711 5353\r\n')],
  [
    'of version 2',
    writeHeader({
      source: CLIENT,
      destination: { address: '198.51.100.53', port: 5353 },
      protocol: 'stream',
    }),
  ],
] as const;
const QUERIES = Buffer.concat([frame(queryFor('slow', 1)), frame(queryFor('fast', 2))]);

/** What a client has sent and the server has not read makes the end a reset. */
async function untilOver(client: TcpClient): Promise<void> {
  await waitUntil('the end', () => client.isEnded || client.isClosed);
}

describe('over TCP', () => {
  it.each(STREAM_HEADERS)(
    'the chain sees the client of the header, and what it has asked: %s',
    async (_, header) => {
      const { port, seen } = await listenByStream();
      const proxy = new TcpClient(port, SERVER, PROXY);
      proxy.send(Buffer.concat([header, QUERIES]));
      await proxy.waitForMessages(2);
      expect(
        seen.map(({ address, port: from, localAddress, localPort }) => [
          address,
          from,
          localAddress,
          localPort,
        ]),
      ).toEqual([[CLIENT.address, CLIENT.port, '198.51.100.53', 5353]]);
    },
  );

  it.each(STREAM_HEADERS)('a header may come octet by octet: %s', async (_, header) => {
    const { port, seen } = await listenByStream();
    const proxy = new TcpClient(port, SERVER, PROXY);
    proxy.socket.setNoDelay(true);
    for (const octet of Buffer.concat([header, QUERIES])) {
      proxy.send(Buffer.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await proxy.waitForMessages(2);
    expect(seen.map(pick)).toEqual([CLIENT]);
  });

  it('a connection without a header is that of its sender', async () => {
    const { port, seen } = await listenByStream();
    for (const from of [PROXY, STRANGER]) {
      const client = new TcpClient(port, SERVER, from);
      client.send(QUERIES);
      await client.waitForMessages(2);
    }
    expect(seen.map(({ address }) => address)).toEqual([PROXY, STRANGER]);
  });

  it.each(['ignore', 'reject', 'skip'] as const)(
    'a stranger cannot claim to be another client: %s',
    async (others) => {
      const { port, seen, listener } = await listenByStream({ proxies: { ...TRUSTING, others } });
      const stranger = new TcpClient(port, SERVER, STRANGER);
      stranger.send(Buffer.concat([writeHeader({ source: CLIENT, protocol: 'stream' }), QUERIES]));
      if (others === 'ignore') await stranger.waitForMessages(2);
      else if (others === 'reject') {
        await untilOver(stranger);
        expect(listener.count().ended.header).toBe(1);
      } else stranger.socket.end();
      if (others === 'skip') await untilOver(stranger);
      expect(seen.map(({ address }) => address)).toEqual(others === 'ignore' ? [STRANGER] : []);
    },
  );

  it('a malformed header ends the connection, and is counted', async () => {
    const { port, listener } = await listenByStream();
    const proxy = new TcpClient(port, SERVER, PROXY);
    proxy.send(Buffer.from('PROXY TCP4 here there 1 2\r\n'));
    await untilOver(proxy);
    expect(listener.count().ended.header).toBe(1);
  });

  it('a header that does not come in time ends the connection', async () => {
    const clock = new ManualClock();
    const { port, listener } = await listenByStream({ clock, limits: { readMilliseconds: 3000 } });
    const proxy = new TcpClient(port, SERVER, PROXY);
    proxy.send(Buffer.from('PROXY TCP4'));
    await waitUntil('the connection', () => listener.count().open === 1);
    clock.advance(3000);
    await untilOver(proxy);
    expect(listener.count().ended.idle).toBe(1);
  });

  it('a client that closes without a query is gone', async () => {
    const { port, listener } = await listenByStream();
    connect({ port, host: SERVER, localAddress: PROXY }).end();
    await waitUntil('the end', () => listener.count().ended.client === 1);
    expect(listener.count().open).toBe(0);
  });

  it('each client behind a proxy has its own share of connections', async () => {
    const { port, listener } = await listenByStream({ limits: { connectionsPerClient: 2 } });
    const clients = Array.from({ length: 5 }, (_, number) => {
      const proxy = new TcpClient(port, SERVER, PROXY);
      const source = { address: `192.0.2.${number}`, port: 1 };
      proxy.send(Buffer.concat([writeHeader({ source, protocol: 'stream' }), frame(queryFor('fast', 1))]));
      return proxy;
    });
    for (const client of clients) await client.waitForMessages(1);
    expect(listener.count()).toMatchObject({ open: 5, rejected: 0 });
    const greedy = Array.from({ length: 3 }, () => {
      const proxy = new TcpClient(port, SERVER, PROXY);
      proxy.send(
        Buffer.concat([writeHeader({ source: CLIENT, protocol: 'stream' }), frame(queryFor('fast', 1))]),
      );
      return proxy;
    });
    await waitUntil('two of three', () => listener.count().ended.evicted === 1);
    expect(greedy.length).toBe(3);
  });
});

it.each(STREAM_HEADERS)('before TLS the header tells the client: %s', async (_, header) => {
  const fixture = (name: string): Buffer => readFileSync(tlsFixturePath(name));
  const { port, seen } = await listenByStream({
    encryption: {
      identity: {
        certificate: fixture('server.crt'),
        key: fixture('server.key'),
        authorities: undefined,
        clientAuthentication: 'nocert',
      },
    },
  });
  // With the header in the segment of the handshake, and apart from it.
  for (const isApart of [false, true]) {
    const socket = connect({ port, host: SERVER, localAddress: PROXY });
    onTestFinished(() => void socket.destroy());
    if (!isApart) socket.cork();
    socket.write(header);
    const secured = connectByTls({
      socket,
      ca: fixture('authority.crt'),
      checkServerIdentity: () => undefined,
    });
    if (!isApart) setImmediate(() => socket.uncork());
    const answers: Buffer[] = [];
    const parser = new FrameParser();
    secured.on('data', (octets) => {
      parser.push(octets);
      for (let one = parser.next(); one !== undefined; one = parser.next()) answers.push(Buffer.from(one));
    });
    secured.write(QUERIES);
    await waitUntil('the answers', () => answers.length === 2);
  }
  expect(seen.map(pick)).toEqual([CLIENT, CLIENT]);
});
