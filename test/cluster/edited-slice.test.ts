/**
 * The index of a large service after any edits of its slices leads where the index of a service that was listed at once leads.
 */
import { TYPE } from '@portolan/dns/types.ts';
import type {
  EndpointAddress,
  EndpointsObject,
  ServiceObject,
} from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const SERVICE: ServiceObject = {
  kind: 'Service',
  namespace: 'blue',
  name: 'web',
  selects: true,
  ports: PORTS,
  address: { kind: 'headless' },
};
const SLICES = 3;
const SIZE = 40;
const FIRST_NEW = SLICES * SIZE;
/** Numbers of endpoints: those at the start, and some that come. */
const NUMBERS = FIRST_NEW + 12;

function endpoint(number: number, hostname: string | undefined): EndpointAddress {
  return { address: number % 7 === 0 ? `fd00::${number.toString(16)}` : `10.1.0.${number}`, hostname };
}

const slice = (number: number, addresses: readonly EndpointAddress[]): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `web-${number}`,
  service: 'web',
  groups: [{ addresses, ports: PORTS }],
});

/** Removes some endpoints at a place, and inserts others, which may be anywhere in the service already. */
const edit = fc.record({
  slice: fc.nat(SLICES - 1),
  at: fc.nat(SIZE),
  removes: fc.nat(10),
  inserts: fc.array(
    fc.record({
      number: fc.oneof(fc.integer({ min: FIRST_NEW, max: NUMBERS - 1 }), fc.nat(NUMBERS - 1)),
      hostname: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
    }),
    { maxLength: 4 },
  ),
});

const makeLabel = (number: number): string =>
  number % 7 === 0 ? `fd00--${number === 0 ? '0' : number.toString(16)}` : `10-1-0-${number}`;
const NAMES = [
  ...Array.from({ length: NUMBERS }, (_, number) => `${makeLabel(number)}.web`),
  'a.web',
  'b.web',
  'web',
  '_http._tcp.web',
].map((name) => `${name}.blue.svc.cluster.local.`);
const REVERSE = Array.from({ length: NUMBERS }, (_, number) => `${number}.0.1.10.in-addr.arpa.`);

const QUESTIONS = [
  ...NAMES.flatMap((name) => [TYPE.A, TYPE.AAAA].map((type) => question(name, type))),
  ...REVERSE.map((name) => question(name, TYPE.PTR)),
  question(NAMES.at(-1) ?? '', TYPE.SRV),
];

const portrait = (cluster: AskableCluster) =>
  QUESTIONS.map((asked) => {
    const message = cluster.askTable(asked);
    return message && recordMessage(message);
  });

describe.each(['coredns', 'kube-dns'] as const)('%s', (dialect) => {
  it('any edits lead to the answers of a service that was listed at once', { timeout: 60_000 }, async () => {
    const start = Array.from({ length: SLICES }, (_, number) =>
      Array.from({ length: SIZE }, (_each, index) => endpoint(number * SIZE + index, undefined)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
        const lived = new AskableCluster(dialect);
        const slices = start.map((addresses) => [...addresses]);
        lived.list([SERVICE, ...slices.map((addresses, number) => slice(number, addresses))]);
        for (const { slice: number, at, removes, inserts } of edits) {
          const addresses = slices[number] ?? [];
          addresses.splice(at, removes, ...inserts.map((one) => endpoint(one.number, one.hostname)));
          lived.upsert(slice(number, addresses));
        }
        const fresh = new AskableCluster(dialect);
        fresh.list([SERVICE, ...slices.map((addresses, number) => slice(number, addresses))]);
        expect(portrait(lived)).toEqual(portrait(fresh));
        expect(lived.cluster.state().addresses).toBe(fresh.cluster.state().addresses);
        for (const asked of QUESTIONS.filter((_, index) => index % 9 === 0)) {
          const table = lived.askTable(asked);
          if (table !== undefined)
            expect(recordMessage(table)).toEqual(recordMessage(await lived.askChain(asked)));
        }
      }),
      { numRuns: 60 },
    );
  });
});
