/**
 * Upstream servers that answer wrongly over TCP or TLS, before a healthy one: every question gets the answer of the healthy server, and never
 * what the other one sent.
 */
import { frame } from '@portolan/dns/frames.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { readTlsFixture, tlsFixturePath } from '../api-server/tls-fixture.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { HOST, startRole } from '../support/roles.ts';
import { startCoredns, startServe } from './forwarding-programs.ts';

afterEach(endAllPrograms);

const GOOD = '192.0.2.1';
/** What a wrong server says: no client may see it. */
const BAD = '192.0.2.66';

const bad = (query: ReceivedQuery['query']) => [makeAddressRecord(query, BAD)];

const SERVERS: Readonly<Record<string, React>> = {
  'says nothing': () => {},
  'closes without a reply': ({ connection }) => connection?.end(),
  'resets the connection': ({ connection }) => connection?.destroy(),
  'sends half a reply and closes': ({ query, connection }) =>
    connection?.end(frame(reply(query, { answers: bad(query) })).subarray(0, 30)),
  'sends half a reply, and no more': ({ query, connection }) =>
    connection?.write(frame(reply(query, { answers: bad(query) })).subarray(0, 30)),
  'replies with another id': ({ query, send }) => {
    const header = { ...replyMessage(query).header, id: query.header.id ^ 1 };
    send(reply(query, { header, answers: bad(query) }));
  },
  'replies to another question': ({ query, send }) => {
    const questions = [{ name: parseName('other.test.'), type: TYPE.A, class: CLASS.IN }];
    send(reply(query, { questions, answers: bad(query) }));
  },
  'sends an empty message': ({ send }) => send(new Uint8Array()),
  'sends octets that are no message': ({ send }) => send(new Uint8Array(40).fill(0xff)),
  'sends back the query': ({ query, send }) => send(reply(query, { header: query.header, answers: [] })),
  'sends records that cannot be read': ({ query, send }) => {
    const octets = reply(query, { answers: bad(query) });
    send(octets.subarray(0, octets.length - 2));
  },
  'says SERVFAIL': ({ query, send }) => {
    const header = { ...replyMessage(query).header, rcode: RCODE.SERVFAIL };
    send(reply(query, { header, answers: [] }));
  },
};

const answer: React = ({ query, send }) => send(reply(query));

interface Started {
  readonly server: DnsServer;
  readonly transport: 'udp' | 'tcp';
}

const TLS = readTlsFixture('server');
const AUTHORITY = tlsFixturePath('authority.crt');

const STARTS: Readonly<
  Record<string, { readonly tls: boolean; start(wrong: number, good: number): Promise<Started> }>
> = {
  'coredns, force_tcp': {
    tls: false,
    async start(wrong, good) {
      const servers = `${HOST}:${wrong} ${HOST}:${good}`;
      const block = ` errors\n forward . ${servers} {\n  force_tcp\n  policy sequential\n  failover SERVFAIL\n }`;
      return { server: (await startCoredns(block)).server, transport: 'udp' };
    },
  },
  'coredns, tls://': {
    tls: true,
    async start(wrong, good) {
      const servers = `tls://${HOST}:${wrong} tls://${HOST}:${good}`;
      const properties = `tls ${AUTHORITY}\n  tls_servername localhost\n  policy sequential\n  failover SERVFAIL`;
      const block = ` errors\n forward . ${servers} {\n  ${properties}\n }`;
      return { server: (await startCoredns(block)).server, transport: 'udp' };
    },
  },
  'serve, tcp://': {
    tls: false,
    async start(wrong, good) {
      const flags = ['--upstream', `tcp://${HOST}:${good}`];
      return { server: (await startServe(`tcp://${HOST}:${wrong}`, ...flags)).server, transport: 'udp' };
    },
  },
  'dnsmasq, clients over TCP': {
    tls: false,
    async start(wrong, good) {
      const flags = [`--server=${HOST}#${good}`];
      const { address, port } = await startRole('dnsmasq', { upstream: wrong }, { flags });
      return { server: { address, port }, transport: 'tcp' };
    },
  },
};

describe.each(Object.entries(STARTS))('%s', (_role, { tls, start }) => {
  it.each(Object.entries(SERVERS))('beside a server that %s', async (_name, react) => {
    const run = async (reaction: React) => {
      const upstream = await LoopbackUpstream.start(reaction, { tls: tls ? TLS : undefined });
      onTestFinished(() => upstream.stop());
      return upstream;
    };
    const wrong = await run(react);
    const good = await run(answer);
    const { server, transport } = await start(wrong.port, good.port);
    const names = Array.from({ length: 6 }, (_, index) => `n${index}.example.test`);
    const found = await Promise.all(
      names.map(async (name) => {
        const { header, answers } = await ask(server, name, 'A', { transport });
        return [header.rcode, ...answers.map(({ data }) => (data.kind === 'A' ? data.address : data.kind))];
      }),
    );
    expect(wrong.queries.length).toBeGreaterThan(0);
    expect(found).toEqual(names.map(() => [RCODE.NOERROR, GOOD]));
  });
});
