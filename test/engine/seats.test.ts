/**
 * Each way to configure the program makes its own views. With all of them, for any batch, a reader never writes into the seat of a
 * packet that it does not answer.
 */
import { decodeName } from '@portolan/dns/name-wire.ts';
import { compileText } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { compileDnsmasq } from '@portolan/frontends/dnsmasq/settings/compile-dnsmasq.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { readPlan as readDnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import { renderCorefile } from '@portolan/frontends/node-cache/settings/render-corefile.ts';
import { compileServe } from '@portolan/frontends/serve/settings/compile-serve.ts';
import { NO_SERVERS } from '@portolan/frontends/serve/settings/resolver-settings.ts';
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { compileSkyDns } from '@portolan/frontends/skydns/settings/compile-skydns.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import {
  cacheHostileSets,
  hostileSets,
  questionsOfHostileSets,
} from '@portolan/kernel/table/testing/hostile-sets.ts';
import { expectOtherSeatsUntouched, type SeatCounts } from '@portolan/kernel/table/testing/packet-seats.ts';
import { query } from '@portolan/kernel/table/testing/table-answers.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import '../support/load-all-plugins.ts';

// Of whatever Corefile: a constructor cannot wait.

const RUNS = 10;
const LIFETIME = 200;
const FURTHER_NAMES = [
  'cart.zone.test',
  'missing.zone.test',
  'kubernetes.default.svc.cluster.local',
  'nobody.example',
  '.',
];

/** An engine that has answers of all sizes in its cache. */
class Subject {
  readonly clock = new ManualClock();
  readonly engine: Engine;
  readonly #plan: EnginePlan;

  constructor(plan: EnginePlan) {
    this.#plan = plan;
    const { clock } = this;
    const basics = { readers: 0, version: 'test', clock, log: silentLog };
    this.engine = new Engine(plan, basics);
    onTestFinished(() => this.engine.stop());
  }

  /** What an upstream has said. */
  fillCache(): void {
    cacheHostileSets(this.engine.table, 'zone.test', LIFETIME, this.clock.monotonic());
  }

  /** Asks every listener group for each name, whose answer then is in the cache of its block. */
  async askChains(): Promise<void> {
    await this.engine.start();
    for (const { server } of this.#plan.groups)
      for (const { name, type } of questionsOfHostileSets('zone.test'))
        await this.#askChain(server, name, type === 1 ? 'A' : 'TXT');
  }

  async #askChain(server: string, name: string, type: string): Promise<void> {
    const { packet, length } = query(name, type);
    const client = { address: '192.0.2.77', port: 5353, transport: 'tcp' } as const;
    await this.engine.serverBlocks.findQueryHandler(server)?.(packet.slice(0, length), client);
  }

  expectUntouched(): SeatCounts {
    const { engine, clock } = this;
    const servers = this.#plan.groups.map(({ server }) => engine.getListenerGroupNumber(server));
    return expectOtherSeatsUntouched(
      {
        memory: engine.table.memory,
        reader: 0,
        udpSize: this.#plan.udpSize,
        groups: servers,
        questions: [
          ...questionsOfHostileSets('zone.test'),
          ...FURTHER_NAMES.map((name) => ({ name, type: 1 })),
        ],
        stored: clock.monotonic(),
      },
      RUNS,
    );
  }
}

/** The names of `hostileSets`, each with as many records, as a zone. @returns the path of its file */
async function writeZone(): Promise<string> {
  const { write } = await makeTemporaryFolder();
  const lines = hostileSets('zone.test', LIFETIME).flatMap(({ name, type, body }) =>
    Array.from({ length: body.answerCount }, (_, index) => {
      const data =
        type === 1 ? `A 10.1.${index >> 8}.${index & 255}` : `TXT ${index} ${'x'.repeat(index % 250)}`;
      return `${decodeName(name)} ${LIFETIME} IN ${data}`;
    }),
  );
  const head = [
    `$TTL ${LIFETIME}`,
    '@ SOA ns.zone.test. h.zone.test. 1 2 3 4 60',
    '@ NS ns',
    'ns A 10.0.0.1',
  ];
  return await write('zone.db', ['$ORIGIN zone.test.', ...head, 'cart A 10.0.0.2', ...lines, ''].join('\n'));
}

function expectAllKinds({ answered, asked }: SeatCounts): void {
  expect(answered).toBeGreaterThan(50);
  expect(asked).toBeGreaterThan(50);
}

describe('no view lets a reader write into the seat of another packet', () => {
  it('coredns', async () => {
    const block = `cache ${LIFETIME}\n file ${await writeZone()} zone.test\n`;
    const corefile = `.:53 {\n ${block} }\nzone.test:54 {\n bufsize 700\n ${block} }\n.:54 {\n cache\n whoami\n }`;
    const subject = new Subject(compileText(corefile).engine);
    await subject.askChains();
    expectAllKinds(subject.expectUntouched());
  });

  it('node-cache', async () => {
    const block = `cache ${LIFETIME}\n bind __PILLAR__LOCAL__DNS__\n`;
    const forward = 'forward . __PILLAR__UPSTREAM__SERVERS__';
    const { text } = renderCorefile(
      `zone.test:53 {\n ${block} file ${await writeZone()}\n }\n.:53 {\n ${block} ${forward}\n }`,
      {
        localAddresses: ['169.254.20.10', '10.96.0.10'],
        prometheusAddress: '',
        clusterDns: '10.96.0.11',
        port: '53',
        upstreams: ['192.0.2.53'],
        stubDomains: new Map(),
      },
    );
    const subject = new Subject(compileText(text, adaptBlocks).engine);
    await subject.askChains();
    expectAllKinds(subject.expectUntouched());
  });

  it.each(['', 'max-ttl=20', 'no-round-robin', 'local-service'])('dnsmasq, %s', (option) => {
    const plan = readDnsmasqPlan(
      `no-resolv\nno-hosts\ncache-size=10000\nhost-record=cart.zone.test,10.0.0.1\n${option}`,
    );
    const inputs = { fromResolvFile: [], moreRoutes: [], isOurselves: () => false };
    const subject = new Subject(compileDnsmasq(plan, inputs, { interfaces: {}, udpReaders: 1 }).engine);
    subject.fillCache();
    expectAllKinds(subject.expectUntouched());
  });

  it.each(['coredns', 'kube-dns'] as const)('serve, dialect %s', (dialect) => {
    const flags: ServeFlags = { dialect };
    const checked = planFromFlags(flags, { cores: 2, terminal: false, environment: {} }, memorySources());
    if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
    const machine = { interfaces: {}, ownAddresses: ['192.0.2.2'] };
    const subject = new Subject(compileServe(checked.value, NO_SERVERS, machine).engine);
    subject.fillCache();
    expectAllKinds(subject.expectUntouched());
  });

  it('skydns', () => {
    const reading = readSkyDnsFlags(['-nameservers', '192.0.2.53:53'], {});
    if (reading.kind !== 'flags') throw new Error(reading.kind);
    const read = readSettings(reading.read, {});
    if (read.kind === 'bad') throw new Error(JSON.stringify(read.problems));
    const inputs = { systemServers: [], stubZones: [] };
    const subject = new Subject(compileSkyDns(read.settings, inputs, { udpReaders: 1, now: 0 }).engine);
    subject.fillCache();
    expectAllKinds(subject.expectUntouched());
  });
});
