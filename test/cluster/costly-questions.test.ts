/**
 * Readers answer every question about a name in the table, of any form and with sets of any size, so the main thread has no work
 * with it.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import type { EndpointsObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const SLICES = 40;
const ENDPOINTS_OF_SLICE = 100;

const slice = (number: number): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: `web-${number}`,
  service: 'web',
  groups: [
    {
      addresses: Array.from({ length: ENDPOINTS_OF_SLICE }, (_, index) => ({
        address: `10.2.${number}.${index}`,
        hostname: undefined,
      })),
      ports: PORTS,
    },
  ],
});

const NAMES = [
  'web.blue.svc.cluster.local.',
  '_http._tcp.web.blue.svc.cluster.local.',
  '_tcp.web.blue.svc.cluster.local.',
  'blue.svc.cluster.local.',
  'svc.cluster.local.',
  'missing.blue.svc.cluster.local.',
] as const;

/** An OPT record: of some size, version and flags, with an option (NSID, client subnet, COOKIE, padding), or none. */
const opt = fc.oneof(
  fc.constant(undefined),
  fc
    .record({
      size: fc.constantFrom(0, 512, 1232, 4096, 65_535),
      version: fc.constantFrom(0, 0, 0, 1),
      isDnssecOk: fc.boolean(),
      option: fc.constantFrom(undefined, 3, 8, 10, 12),
    })
    .map(({ size, version, isDnssecOk, option }) => {
      const data = option === undefined ? [] : [0, option, 0, 8, 0, 1, 24, 0, 192, 0, 2, 0];
      return [0, 0, 41, size >> 8, size & 255, 0, version, isDnssecOk ? 128 : 0, 0, 0, data.length, ...data];
    }),
);

const form = fc.record({
  name: fc.constantFrom(...NAMES),
  type: fc.oneof(
    fc.constantFrom(TYPE.A, TYPE.AAAA, TYPE.SRV, 255, 252, 251, 6, 2, 16, 43, 65),
    fc.nat(65_535),
  ),
  class: fc.constantFrom(1, 1, 1, 3, 4, 254, 255),
  opcode: fc.constantFrom(0, 0, 0, 1, 2, 4, 5, 15),
  /** AA, TC, RD, and RA, Z, AD, CD. */
  flags: fc.record({ third: fc.nat(7), fourth: fc.nat(15) }),
  opt,
  /** Behind the last record. */
  stray: fc.constantFrom(0, 0, 1, 3),
  transport: fc.constantFrom('udp', 'tcp'),
});

it.each(['coredns', 'kube-dns'] as const)(
  '%s: all questions about stored names are answered by readers',
  (dialect) => {
    const cluster = new AskableCluster(dialect);
    const ports = { ports: PORTS };
    const service = {
      kind: 'Service',
      namespace: 'blue',
      name: 'web',
      address: { kind: 'headless' },
      ...ports,
    } as const;
    const namespace = { kind: 'Namespace', name: 'blue' } as const;
    cluster.list([service, namespace, ...Array.from({ length: SLICES }, (_, number) => slice(number))]);
    const reader = new TableReader(cluster.table.memory, 0, undefined, composeRecords);
    const packet = new Uint8Array(65_535);
    fc.assert(
      fc.property(form, (asked) => {
        const query = encodeMessage({
          header: { ...QUERY_HEADER, id: 1 },
          questions: [{ name: parseName(asked.name), type: asked.type, class: asked.class }],
          answers: [],
          authorities: [],
          additionals: [],
          edns: undefined,
        });
        const octets = Buffer.concat([query, Uint8Array.from(asked.opt ?? []), Buffer.alloc(asked.stray)]);
        octets[2] = (asked.opcode << 3) | asked.flags.third;
        octets[3] = asked.flags.fourth << 4;
        octets[11] = asked.opt === undefined ? 0 : 1;
        packet.set(octets);
        const verdict = reader.answer(packet, 0, octets.length, packet.length, asked.transport);
        expect(verdict).not.toBe(VERDICT.ASK);
      }),
      { numRuns: 2_000 },
    );
  },
);
