/**
 * Upstream servers that do less than the standards allow, behind each role as its users start it.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type RecordData, TYPE } from '@portolan/dns/types.ts';
import { ask, askShort, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, HOST, ROLES, type Role, startRole } from '../support/roles.ts';
import { describeWhere } from '../support/tools.ts';
import { startCoredns, startNodeCache, startServe } from './forwarding-programs.ts';

afterEach(endAllPrograms);

const BADVERS = 16;
/** Names of probes for loops. */
const PROBE = /^[0-9a-f]{32}\./;

/** A server, and what it was asked for in the tests: names, with EDNS or without. A busy machine may make repeats, which do not count. */
class Upstream {
  readonly server: LoopbackUpstream;

  constructor(server: LoopbackUpstream) {
    this.server = server;
  }

  get port(): number {
    return this.server.port;
  }

  get asked(): readonly string[] {
    const asked = this.server.queries.flatMap(({ query: { questions, edns } }) => {
      const [{ name = ROOT } = {}] = questions;
      return name.endsWith('.test.') && !PROBE.test(name)
        ? [`${toKey(name)} ${edns === undefined ? 'plain' : 'edns'}`]
        : [];
    });
    return [...new Set(asked)];
  }
}

async function startUpstream(react: React): Promise<Upstream> {
  const server = await LoopbackUpstream.start(react);
  onTestFinished(() => server.stop());
  return new Upstream(server);
}

/** Drops what has an OPT record. */
const deaf: React = ({ query, send }) => {
  if (query.edns === undefined) send(reply(query));
};

const saysBadvers: React = ({ query, send }) => {
  const edns = query.edns && { ...query.edns, extendedRcode: BADVERS >> 4 };
  send(reply(query, edns === undefined ? {} : { edns, answers: [] }));
};

/** Says so without EDNS too. */
const saysOnlyBadvers: React = ({ query, send }) => {
  const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: BADVERS >> 4, options: [] };
  send(reply(query, { edns, answers: [] }));
};

async function askWithEdns(server: DnsServer, name: string): Promise<Message> {
  const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };
  return decodeMessage(await exchange(server, { ...makeQuery(name, 'A'), edns }));
}

/** As their originals, these send no extended errors of their own. */
const sendsExtendedErrors = (role: Role): boolean => role !== 'dnsmasq' && role !== 'skydns';

for (const role of ROLES) describeWhere(canRun(role), 'etcd', role, () => testOddServers(role));

function testOddServers(role: Role): void {
  it('leaves EDNS out where it is dropped on the way, and where it is answered with BADVERS', async () => {
    const upstream = await startUpstream(deaf);
    const silent = await startUpstream(saysBadvers);
    const { address, port } = await startRole(role, { upstream: upstream.port, silent: silent.port });
    const server = { address, port };
    // The client does not repeat its question.
    for (const name of ['a.deaf.test', 'b.deaf.test'])
      expect(await askShort(server, name, 'A')).toBe('192.0.2.1');
    expect(upstream.asked).toEqual(['a.deaf.test. edns', 'a.deaf.test. plain', 'b.deaf.test. plain']);
    expect(await askShort(server, 'a.silent.test', 'A')).toBe('192.0.2.1');
    const { header, answers } = await askWithEdns(server, 'b.silent.test');
    expect([header.rcode, answers.length]).toEqual([RCODE.NOERROR, 1]);
    expect(silent.asked).toEqual(['a.silent.test. edns', 'a.silent.test. plain', 'b.silent.test. plain']);
  });

  it('answers SERVFAIL where no server says anything but BADVERS, and gives clients their own capitals', async () => {
    const data: Readonly<Record<number, RecordData>> = {
      [TYPE.TXT]: { kind: 'TXT', strings: [Buffer.from('t')] },
      [TYPE.SRV]: { kind: 'SRV', priority: 0, weight: 0, port: 80, target: parseName('a.test.') },
      [TYPE.PTR]: { kind: 'PTR', target: parseName('a.test.') },
      [TYPE.A]: { kind: 'A', address: '192.0.2.1' },
    };
    const upstream = await startUpstream(({ query, send }) => {
      const [{ name = ROOT, type = 0 } = {}] = query.questions;
      const found = data[type];
      const answers = found === undefined ? [] : [{ name, class: CLASS.IN, ttl: 60, data: found }];
      send(reply(query, { answers }));
    });
    const silent = await startUpstream(saysOnlyBadvers);
    const { address, port } = await startRole(role, { upstream: upstream.port, silent: silent.port });
    const server = { address, port };
    const { header, answers } = await ask(server, 'a.silent.test', 'A');
    expect([header.rcode, answers.length]).toEqual([RCODE.SERVFAIL, 0]);
    const explained = await askWithEdns(server, 'b.silent.test');
    expect([explained.header.rcode, explained.edns?.extendedRcode]).toEqual([RCODE.SERVFAIL, 0]);
    const codes = explained.edns?.options.map(({ code, data }) => [code, ...data]);
    expect(codes).toEqual(sendsExtendedErrors(role) ? [[15, 0, 22]] : []);
    for (const type of ['TXT', 'SRV', 'PTR', 'A'] as const)
      for (const turn of ['first', 'again']) {
        const name = `MiXeD.${type}.TEST`;
        const [found] = (await ask(server, name, type)).answers;
        expect(found?.name, `${type} ${turn}`).toBe(`${name}.`);
      }
  });
}

describe('a denial is kept for the lesser of TTL and minimum of its SOA record (RFC 2308 section 5)', () => {
  const NAMES = ['a', 'b'];

  /** The TTL of its SOA record at both speeds, the first time and again. */
  async function askTtls(server: DnsServer): Promise<readonly number[]> {
    const found: number[] = [];
    for (const type of ['A', 'TXT'] as const)
      for (const name of [...NAMES, ...NAMES]) {
        const { header, authorities } = await ask(server, `${name}.denied.test`, type);
        expect(header.rcode).toBe(RCODE.NXDOMAIN);
        found.push(...authorities.map(({ ttl }) => ttl));
      }
    expect(found).toHaveLength(8);
    return found;
  }

  const denies: React = ({ query, send }) => {
    const data: RecordData = {
      kind: 'SOA',
      primary: parseName('ns.test.'),
      mailbox: parseName('hm.test.'),
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 86_400,
      minimum: 2,
    };
    const soa = { name: parseName('denied.test.'), class: CLASS.IN, ttl: 3600, data };
    const { header } = replyMessage(query);
    send(reply(query, { header: { ...header, rcode: RCODE.NXDOMAIN }, answers: [], authorities: [soa] }));
  };

  it.each(['serve', 'kube-dns', 'coredns', 'node-cache', 'dnsmasq'] as const)('%s', async (role) => {
    const { port: upstream } = await startUpstream(denies);
    const { address, port } = await startRole(role, { upstream });
    for (const ttl of await askTtls({ address, port })) expect(ttl).toBeLessThanOrEqual(2);
  });

  it('coredns -compat keeps it for its TTL, as CoreDNS', async () => {
    const { port: upstream } = await startUpstream(denies);
    const { address, port } = await startRole('coredns', { upstream }, { flags: ['-compat=1.14'] });
    expect(Math.max(...(await askTtls({ address, port })))).toBe(30);
  });
});

/** Two servers, of which one is silent; which of them a name was asked of first. */
class Pair {
  readonly first = new Map<string, 'silent' | 'good'>();
  isSilent = true;

  async start(): Promise<{ readonly silent: number; readonly good: number }> {
    const silent = await startUpstream((received) => {
      this.#note('silent', received.query);
      if (!this.isSilent) received.send(reply(received.query));
    });
    const good = await startUpstream((received) => {
      this.#note('good', received.query);
      if (this.isSilent) received.send(reply(received.query));
    });
    return { silent: silent.port, good: good.port };
  }

  #note(server: 'silent' | 'good', { questions: [question] }: Message): void {
    const name = question?.name ?? ROOT;
    if (name.endsWith('.two.test.') && !this.first.has(name)) this.first.set(name, server);
  }

  /** Asks for ten names. @returns for how many the silent server was asked first */
  async countWaiting(server: DnsServer): Promise<number> {
    for (let index = 0; index < 10; index += 1)
      // The client does not repeat its question.
      expect(await askShort(server, `n${index}.two.test`, 'A')).toBe('192.0.2.1');
    return [...this.first.values()].filter((which) => which === 'silent').length;
  }
}

describe('no question waits for a server that was silent for two while another one answers', () => {
  it('serve', async () => {
    const pair = new Pair();
    const { silent, good } = await pair.start();
    const { server } = await startServe(`${HOST}:${silent}`, '--upstream', `${HOST}:${good}`);
    expect(await pair.countWaiting(server)).toBe(2);
  });

  it('coredns, sequential', async () => {
    const pair = new Pair();
    const { silent, good } = await pair.start();
    const servers = `${HOST}:${silent} ${HOST}:${good}`;
    const { server } = await startCoredns(` forward . ${servers} {\n  policy sequential\n }`);
    expect(await pair.countWaiting(server)).toBe(2);
  });

  it('node-cache, round_robin', async () => {
    const pair = new Pair();
    const { silent, good } = await pair.start();
    const properties = ` ${HOST}:${good} {\n  policy round_robin\n }`;
    const { server } = await startNodeCache(`${HOST}:${silent}`, properties);
    // A hedge may bring the answer before the silent server has had its time.
    expect(await pair.countWaiting(server)).toBeLessThanOrEqual(3);
  });

  it('dnsmasq, after one server has failed that had answered', async () => {
    const pair = new Pair();
    pair.isSilent = false;
    const { silent: upstream, good } = await pair.start();
    const flags = [`--server=${HOST}#${good}`];
    const { address, port } = await startRole('dnsmasq', { upstream }, { flags });
    const server = { address, port };
    expect(await askShort(server, 'warm.example.test', 'A')).toBe('192.0.2.1');
    pair.isSilent = true;
    expect(await pair.countWaiting(server)).toBeLessThanOrEqual(2);
  });
});
