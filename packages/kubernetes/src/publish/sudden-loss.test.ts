import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { Losses, type LossRule } from '@portolan/kernel/base/losses.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndpointsObject, ServiceObject } from '../objects/objects.ts';
import { Cluster } from './cluster.ts';
import { findDialect } from './find-dialect.ts';

const RULE: LossRule = { share: 50, names: 4, within: 30_000, hold: 600_000 };
const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;

/** Even ones have an address of their own, odd ones only endpoints. */
const service = (number: number): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name: `s${number}`,
  address:
    number % 2 === 0 ? { kind: 'clusterIPs', addresses: [`10.96.0.${number + 1}`] } : { kind: 'headless' },
  ports: PORTS,
});

const slice = (number: number, generation = 0): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `s${number}-${generation}`,
  service: `s${number}`,
  groups: [
    { addresses: [{ address: `10.244.${generation}.${number + 1}`, hostname: undefined }], ports: PORTS },
  ],
});

function makeCluster(rule: LossRule | 'none' = RULE) {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 1, reservation: 2 ** 24, cacheOctets: 2 ** 16, seed: 4711 });
  const losses = new Losses(rule === 'none' ? undefined : rule, { clock, log: silentLog });
  const domain = toKey(parseName('cluster.local.'));
  const dialect = findDialect('coredns');
  const options = { domain, dialect, pods: 'disabled', ttl: 30, ownAddresses: [], losses } as const;
  const cluster = new Cluster(options, table, clock, silentLog);
  const view = table.viewSettings(DEFAULT_VIEW);
  table.changeView(DEFAULT_VIEW, { ...view, sendsExtendedErrors: true });
  const reader = new TableReader(table.memory, 0, undefined, composeRecords);
  const list = (
    numbers: readonly number[],
    slices: readonly EndpointsObject[] = numbers.map((n) => slice(n)),
  ) => {
    const { services, endpoints, namespaces } = cluster;
    for (const sink of [services, endpoints, namespaces]) sink.listStarted();
    for (const number of numbers) services.upsert(service(number));
    for (const each of slices) endpoints.upsert(each);
    for (const sink of [services, endpoints, namespaces]) sink.listCompleted();
    cluster.settle();
  };
  const ask = (number: number) => {
    const question = { name: parseName(`s${number}.blue.svc.cluster.local.`), type: TYPE.A, class: CLASS.IN };
    const edns = { udpSize: DEFAULT_UDP_SIZE, version: 0, extendedRcode: 0, dnssecOk: false, options: [] };
    const query = encodeMessage({
      header: { ...QUERY_HEADER, id: 1 },
      questions: [question],
      answers: [],
      authorities: [],
      additionals: [],
      edns,
    });
    const packet = new Uint8Array(4096);
    packet.set(query);
    const length = reader.answer(packet, 0, query.length, 2048, 'tcp', 0, 2048);
    const { header, answers, edns: own } = decodeMessage(packet.slice(0, length));
    const isStale = own?.options.some(({ code, data }) => code === 15 && data[1] === 3) === true;
    return { rcode: header.rcode, addresses: answers.length, isStale };
  };
  return { cluster, clock, losses, list, ask };
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const FRESH = { rcode: RCODE.NOERROR, addresses: 1, isStale: false };
const STALE = { ...FRESH, isStale: true };
const GONE = { rcode: RCODE.NXDOMAIN, addresses: 0, isStale: false };

describe('a cluster whose source loses its objects at once', () => {
  it.each([
    ['an empty list', 0],
    ['a cut list', 3],
  ] as const)('by %s answers them as stale', (_name, left) => {
    const { list, ask, losses, cluster } = makeCluster();
    list(range(10));
    list(range(left));
    expect(range(10).map(ask)).toEqual(range(10).map((number) => (number < left ? FRESH : STALE)));
    // As many as the API server has: the comparison with it finds no difference.
    expect([cluster.services.count(), cluster.endpoints.count()]).toEqual([left, left]);
    expect(losses.list().map(({ kind, names, of }) => [kind, names, of])).toEqual([
      ['services', 10 - left, 10],
      ['endpoints', 10 - left, 10],
    ]);
  });

  it('has them again with the next whole list', () => {
    const { list, ask, losses } = makeCluster();
    list(range(10));
    list([]);
    list(range(10));
    expect(range(10).map(ask)).toEqual(range(10).map(() => FRESH));
    expect(losses.list()).toEqual([]);
  });

  it('keeps them no longer for further empty lists', () => {
    const { list, ask, clock, cluster } = makeCluster();
    list(range(10));
    list([]);
    for (let minute = 0; minute < 9; minute++) {
      clock.advance(60_000);
      list([]);
      expect(ask(3)).toEqual(STALE);
    }
    clock.advance(60_000);
    cluster.settle();
    expect(range(10).map(ask)).toEqual(range(10).map(() => GONE));
    expect([cluster.hasStaleNames, clock.pending]).toEqual([false, 0]);
  });

  it('lets them go when that is accepted', () => {
    const { list, ask, losses, cluster } = makeCluster();
    list(range(10));
    list([]);
    expect(losses.accept().map(({ names }) => names)).toEqual([10, 10]);
    cluster.settle();
    expect(range(10).map(ask)).toEqual(range(10).map(() => GONE));
  });

  it('lets them go at once without a rule', () => {
    const { list, ask } = makeCluster('none');
    list(range(10));
    list([]);
    expect(range(10).map(ask)).toEqual(range(10).map(() => GONE));
  });

  it('lets single objects go at once, also while others are stale', () => {
    const { list, ask, cluster } = makeCluster();
    list(range(10));
    cluster.services.remove('blue/s2');
    expect(ask(2)).toEqual(GONE);
    list(range(4).filter((number) => number !== 2));
    cluster.services.remove('blue/s0');
    expect([ask(0), ask(4)]).toEqual([GONE, STALE]);
    // The source says itself that this one is gone.
    cluster.services.remove('blue/s4');
    expect(ask(4)).toEqual(GONE);
  });

  it('replaces the endpoints of a service that comes back with others', () => {
    const { list, ask, cluster } = makeCluster();
    list(range(10));
    list(range(10), []);
    // The answer of a service with an address of its own does not depend on its endpoints.
    expect([ask(0), ask(1)]).toEqual([FRESH, STALE]);
    cluster.endpoints.upsert(slice(1, 1));
    expect(ask(1)).toEqual(FRESH);
    list(
      range(10),
      range(10).map((number) => slice(number, 2)),
    );
    expect(range(10).map(ask)).toEqual(range(10).map(() => FRESH));
    expect([cluster.hasStaleNames, cluster.endpoints.count()]).toEqual([false, 10]);
  });

  it('takes slices under other names for the same endpoints', () => {
    const { list, ask, cluster } = makeCluster();
    list(range(10));
    list(
      range(10),
      range(10).map((number) => slice(number, 1)),
    );
    expect(range(10).map(ask)).toEqual(range(10).map(() => FRESH));
    expect([cluster.hasStaleNames, cluster.endpoints.count()]).toEqual([false, 10]);
  });

  it('gives back all memory in the end', () => {
    const { list, cluster } = makeCluster();
    list(range(10));
    list([]);
    for (const _ of cluster.clear());
    expect(cluster.octets).toBe(0);
  });
});

/** What happens to a source, or what a source that is wrong says. */
type Step =
  | { readonly kind: 'add' | 'delete'; readonly number: number }
  | { readonly kind: 'list' | 'break' }
  /** A list of the source while it lacks all objects but these. */
  | { readonly kind: 'cut'; readonly left: readonly number[] }
  | { readonly kind: 'wait'; readonly seconds: number };

const COUNT = 24;
const arbitraryNumber = fc.nat(COUNT - 1);
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('add', 'delete'), number: arbitraryNumber }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('list', 'break') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('cut'), left: fc.array(arbitraryNumber, { maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 200 }) }),
  },
);

it('answers all names that exist, and a name that is deleted alone no longer, for any history', () => {
  fc.assert(
    fc.property(fc.array(arbitraryStep, { maxLength: 40 }), (steps) => {
      const { cluster, clock, list, ask } = makeCluster();
      const truth = new Set(range(COUNT));
      /** When each name was lost to a wrong list first. */
      const lostAt = new Map<number, number>();
      /** When the latest of the names that are gone went. */
      let deletions: number[] = [];
      list([...truth]);
      const told = () => [...truth].filter((number) => !lostAt.has(number));
      for (const step of steps) {
        const now = clock.monotonic();
        deletions = deletions.filter((at) => at > now - RULE.within);
        switch (step.kind) {
          case 'wait':
            clock.advance(step.seconds * 1000);
            break;
          case 'add':
            truth.add(step.number);
            lostAt.delete(step.number);
            cluster.services.upsert(service(step.number));
            cluster.endpoints.upsert(slice(step.number));
            break;
          case 'delete':
            // Two at most in 30 s: none of them is a part of a sudden loss.
            if (!truth.has(step.number) || deletions.length >= 2) break;
            truth.delete(step.number);
            lostAt.delete(step.number);
            deletions.push(now);
            cluster.services.remove(`blue/s${step.number}`);
            cluster.endpoints.remove(`blue/s${step.number}-0`);
            cluster.settle();
            expect(ask(step.number)).toEqual(GONE);
            break;
          case 'list':
            lostAt.clear();
            list([...truth]);
            break;
          case 'break':
            for (const sink of [cluster.services, cluster.endpoints]) sink.listStarted();
            break;
          case 'cut': {
            const left = step.left.filter((number) => truth.has(number));
            const lost = told().filter((number) => !left.includes(number));
            // A smaller part cannot be told from deletions.
            if (lost.length < RULE.names || lost.length * 2 < told().length) break;
            for (const number of left) lostAt.delete(number);
            for (const number of lost) lostAt.set(number, now);
            list(left);
          }
        }
        cluster.settle();
        const after = clock.monotonic();
        for (const number of range(COUNT)) {
          const since = lostAt.get(number);
          const isOver = since !== undefined && after - since >= RULE.hold;
          const { rcode, isStale } = ask(number);
          if (!truth.has(number) || isOver) expect(rcode).toBe(RCODE.NXDOMAIN);
          // A loss that joins another one ends with it.
          else if (since === undefined || after - since < RULE.hold * (15 / 16))
            expect([number, rcode, isStale]).toEqual([number, RCODE.NOERROR, since !== undefined]);
        }
      }
      clock.advance(RULE.hold);
      cluster.settle();
      expect(cluster.hasStaleNames).toBe(false);
    }),
    { numRuns: 60 },
  );
});
