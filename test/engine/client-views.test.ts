/**
 * Answers that depend on the client's network: dnsmasq's `--local-service` and `--localise-queries`. Table and chain give a
 * client the same answer.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { compileDnsmasq } from '@portolan/frontends/dnsmasq/settings/compile-dnsmasq.ts';
import { readPlan } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { query } from '@portolan/kernel/table/testing/table-answers.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import '../support/load-all-plugins.ts';

const AT = 4096;

function makeInterfaces(networks: readonly string[]): Interfaces {
  return Object.fromEntries(
    networks.map((cidr, index) => {
      const [address = ''] = cidr.split('/');
      const family = address.includes(':') ? 'IPv6' : 'IPv4';
      return [`eth${index}`, [{ address, cidr, netmask: '', mac: '', family, internal: false } as never]];
    }),
  );
}

class Subject {
  readonly log = new RecordingLog();
  readonly clock = new ManualClock();
  readonly engine: Engine;
  readonly #options: string;

  constructor(options: string, networks: readonly string[]) {
    this.#options = options;
    this.engine = new Engine(this.#plan(networks), {
      readers: 0,
      version: 'test',
      clock: this.clock,
      log: this.log,
    });
    onTestFinished(() => this.engine.stop());
  }

  #plan(networks: readonly string[]) {
    const machine = { interfaces: makeInterfaces(networks), udpReaders: 1 };
    const inputs = { fromResolvFile: [], moreRoutes: [], isOurselves: () => false };
    return compileDnsmasq(readPlan(this.#options), inputs, machine).engine;
  }

  /** Ends when clients are told apart by these networks. */
  async move(networks: readonly string[]): Promise<void> {
    await this.engine.change(this.#plan(networks));
    // Publications of networks are made a little later, in several turns.
    this.clock.advance(20);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** The addresses of an answer, or what is done instead. */
  askTable(client: string, name: string): string {
    const { packet, length } = query(name, 'A');
    packet.set(encodeSocketAddress({ address: client, port: 53 }), AT);
    const end = this.engine.reader.answer(packet, 0, length, AT, 'udp', 0, AT);
    if (end === VERDICT.DROP) return 'dropped';
    return end === VERDICT.ASK ? 'asked' : formatAddresses(packet.slice(0, end));
  }

  async askChain(client: string, name: string): Promise<string> {
    const { packet, length } = query(name, 'A');
    const asked = { address: client, port: 53, transport: 'udp' } as const;
    const response = await this.engine.handleQuery(packet.slice(0, length), asked);
    return response === undefined ? 'dropped' : formatAddresses(response);
  }
}

function formatAddresses(response: Uint8Array): string {
  const { answers } = decodeMessage(response);
  return answers
    .map(({ data }) => (data.kind === 'A' ? data.address : data.kind))
    .sort()
    .join(' ');
}

async function hostsFile(text: string): Promise<string> {
  const { write } = await makeTemporaryFolder();
  return await write('hosts', text);
}

describe('--local-service', () => {
  const options = 'no-resolv\nno-hosts\nlocal-service\nhost-record=one.test,10.0.0.1';
  const strangers = ['192.0.3.1', '2001:db8::1'];

  it('answers neighbours from the table, is silent to strangers, and says so once', async () => {
    const subject = new Subject(options, ['192.0.2.1/24', 'fd00::1/64']);
    await subject.engine.start();
    for (const client of ['192.0.2.200', 'fd00::77'])
      expect(subject.askTable(client, 'one.test')).toBe('10.0.0.1');
    // The first stranger is logged, which is for the main thread.
    for (const client of strangers) expect(subject.askTable(client, 'one.test')).toBe('asked');
    expect(await subject.askChain('192.0.2.200', 'one.test')).toBe('10.0.0.1');
    for (const client of strangers) expect(await subject.askChain(client, 'one.test')).toBe('dropped');
    for (const client of strangers) expect(subject.askTable(client, 'one.test')).toBe('dropped');
    const warnings = subject.log.records.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).toEqual([
      'ignoring query from non-local network 192.0.3.1 (logged only once)',
    ]);
  });

  it('follows the networks of the machine', async () => {
    const subject = new Subject(options, ['192.0.2.1/24']);
    await subject.engine.start();
    await subject.move(['192.0.3.1/24']);
    expect(subject.askTable('192.0.3.1', 'one.test')).toBe('10.0.0.1');
    expect(subject.askTable('192.0.2.200', 'one.test')).toBe('asked');
    expect(await subject.askChain('192.0.2.200', 'one.test')).toBe('dropped');
  });
});

describe('--localise-queries', () => {
  const HOSTS = `
    192.0.2.5 near
    198.51.100.5 near
    10.4.4.4 near far
    10.4.4.5 far
    192.0.2.6 only
  `;

  it('answers with the addresses of the client`s network from the table, where a name has a choice', async () => {
    const path = await hostsFile(HOSTS);
    const subject = new Subject(
      `no-resolv\nno-hosts\nlocalise-queries\naddn-hosts=${path}\ncname=alias,near`,
      ['192.0.2.1/24'],
    );
    await subject.engine.start();
    const all = '10.4.4.4 192.0.2.5 198.51.100.5';
    const ask = (client: string) =>
      ['near', 'far', 'only', 'alias'].map((name) => subject.askTable(client, name));
    expect(ask('192.0.2.77')).toEqual(['192.0.2.5', '10.4.4.4 10.4.4.5', '192.0.2.6', '192.0.2.5 CNAME']);
    expect(ask('203.0.113.7')).toEqual([all, '10.4.4.4 10.4.4.5', '192.0.2.6', `${all} CNAME`]);
    await subject.move(['198.51.100.1/24']);
    expect(subject.askTable('192.0.2.77', 'near')).toBe(all);
    expect(subject.askTable('198.51.100.77', 'near')).toBe('198.51.100.5');
    expect(await subject.askChain('198.51.100.77', 'near')).toBe('198.51.100.5');
    await subject.move([]);
    expect(subject.askTable('198.51.100.77', 'near')).toBe(all);
  });

  it('gives by the table what the chain gives, whatever the networks, names and clients', async () => {
    const address = fc.tuple(fc.constantFrom('192.0.2', '192.0.3', '10.1.2'), fc.integer({ min: 1, max: 3 }));
    const text = address.map(([network, last]) => `${network}.${last}`);
    const name = fc.constantFrom('a', 'b', 'c');
    const network = fc.constantFrom(
      '192.0.2.1/24',
      '192.0.2.1/23',
      '192.0.3.1/24',
      '10.1.2.1/31',
      'fd00::1/64',
    );
    let localised = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, name), { minLength: 3, maxLength: 9 }),
        fc.uniqueArray(network),
        fc.uniqueArray(network),
        fc.array(fc.tuple(text, name), { minLength: 8, maxLength: 8 }),
        async (hosts, first, second, questions) => {
          const path = await hostsFile(hosts.map((entry) => entry.join(' ')).join('\n'));
          const subject = new Subject(`no-resolv\nno-hosts\nlocalise-queries\naddn-hosts=${path}`, first);
          await subject.engine.start();
          for (const networks of [first, second]) {
            await subject.move(networks);
            for (const [client, asked] of questions) {
              const fromTable = subject.askTable(client, asked);
              if (fromTable === 'asked') continue;
              expect(fromTable, `${asked} from ${client}`).toBe(await subject.askChain(client, asked));
              if (fromTable !== subject.askTable('203.0.113.1', asked)) localised += 1;
            }
          }
        },
      ),
      { numRuns: 50 },
    );
    expect(localised).toBeGreaterThan(10);
  });
});
