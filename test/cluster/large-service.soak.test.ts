/**
 * A service of many slices, which changes in steps: it has the same names as when all its objects are listed at once.
 */
import { isDeepStrictEqual } from 'node:util';
import { TYPE } from '@portolan/dns/types.ts';
import type { EndpointsObject, ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const DNS = { name: 'dns', protocol: 'UDP', port: 53 } as const;

const service = (kind: 'headless' | 'clusterIPs'): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name: 'web',
  address: kind === 'headless' ? { kind } : { kind, addresses: ['10.96.0.1'] },
  ports: PORTS,
});

interface SliceShape {
  readonly number: number;
  /** Of how many addresses; some of them are in the next slice too. */
  readonly size: number;
  readonly hasDns: boolean;
  readonly hostnames: 'none' | 'own' | 'shared';
  readonly family: 4 | 6;
}

function makeEndpoint({ number, hostnames, family }: SliceShape, index: number) {
  const of = number * 20 + index;
  const address = `10.1.${Math.floor(of / 250)}.${of % 250}`;
  const hostname = hostnames === 'own' ? `o-${of}` : `h-${index}`;
  return {
    address: family === 4 ? address : `fd00::${of.toString(16)}`,
    hostname: hostnames !== 'none' && index % 3 === 0 ? hostname : undefined,
  };
}

const slice = (shape: SliceShape): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `web-${shape.number}`,
  service: 'web',
  groups: [
    {
      addresses: Array.from({ length: shape.size }, (_, index) => makeEndpoint(shape, index)),
      ports: shape.hasDns ? [...PORTS, DNS] : PORTS,
    },
  ],
});

const arbitrarySlice: fc.Arbitrary<SliceShape> = fc.record({
  number: fc.nat(11),
  size: fc.oneof(fc.nat(25), fc.constantFrom(0, 20, 20, 20)),
  hasDns: fc.boolean(),
  hostnames: fc.constantFrom('none', 'none', 'own', 'own', 'shared'),
  family: fc.constantFrom(4, 4, 4, 6),
});

const NAMES = [
  'web.blue.svc.cluster.local.',
  '_http._tcp.web.blue.svc.cluster.local.',
  '_dns._udp.web.blue.svc.cluster.local.',
  'h-0.web.blue.svc.cluster.local.',
  'o-63.web.blue.svc.cluster.local.',
  'fd00--15.web.blue.svc.cluster.local.',
  // What kube-dns calls 10.1.0.21.
  '3837383462383465.web.blue.svc.cluster.local.',
  '10-1-0-21.web.blue.svc.cluster.local.',
  '21.0.1.10.in-addr.arpa.',
  '121.0.1.10.in-addr.arpa.',
  `5.1.${'0.'.repeat(26)}0.0.d.f.ip6.arpa.`,
];
const TYPES = [TYPE.A, TYPE.AAAA, TYPE.SRV, TYPE.PTR];

function portrait(cluster: AskableCluster) {
  const answers = NAMES.flatMap((name) =>
    TYPES.map((type) => {
      const message = cluster.askTable(question(name, type));
      return message && recordMessage(message);
    }),
  );
  const { nodes, nodeOctets } = cluster.table.statistics();
  return { nodes, nodeOctets, answers, addresses: cluster.cluster.state().addresses };
}

/** The questions to which the table says something else than the chain. */
async function differences(cluster: AskableCluster) {
  const found: string[] = [];
  for (const name of NAMES)
    for (const type of TYPES) {
      const byTable = cluster.askTable(question(name, type));
      if (byTable === undefined) continue;
      const byChain = recordMessage(await cluster.askChain(question(name, type)));
      if (!isDeepStrictEqual(recordMessage(byTable), byChain)) found.push(`${name} ${type}`);
    }
  return found;
}

/** Time passes with each look at the clock, so that a step is a slice of work. */
function makeImpatient(cluster: AskableCluster): void {
  let now = 0;
  vi.spyOn(cluster.clock, 'monotonic').mockImplementation(() => {
    now += 5;
    return now;
  });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(['coredns', 'kube-dns'] as const)('%s', (dialect) => {
  it.each(['headless', 'clusterIPs'] as const)(
    '%s: whatever changes, and whenever',
    async (kind) => {
      const event = fc.oneof(
        { weight: 3, arbitrary: fc.record({ put: arbitrarySlice, turns: fc.nat(4) }) },
        fc.record({ remove: fc.nat(11), turns: fc.nat(4) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
          const lived = new AskableCluster(dialect);
          const initial = Array.from({ length: 12 }, (_, number) =>
            slice({ number, size: 20, hasDns: false, hostnames: 'none', family: 4 }),
          );
          lived.list([service(kind), ...initial]);
          makeImpatient(lived);
          const held = new Map(initial.map((object) => [object.name, object]));
          for (const one of events) {
            if ('put' in one) {
              const object = slice(one.put);
              held.set(object.name, object);
              lived.upsert(object);
            } else {
              held.delete(`web-${one.remove}`);
              lived.cluster.endpoints.remove(`blue/web-${one.remove}`);
            }
            for (let count = 0; count < one.turns; count += 1) await turn();
          }
          lived.cluster.settle();
          const fresh = new AskableCluster(dialect);
          fresh.list([service(kind), ...held.values()]);
          expect(portrait(lived)).toEqual(portrait(fresh));
          expect(await differences(lived)).toEqual([]);
        }),
        { numRuns: 40 },
      );
    },
    60_000,
  );
});
