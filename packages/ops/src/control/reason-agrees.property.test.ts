/**
 * For any cluster and any name without an answer, the reason agrees with the answer: it never says that a missing name exists, nor that
 * an existing one is missing.
 */
import { parseName, splitLabels, toKey } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { lookUp } from '@portolan/kernel/zone/lookup.ts';
import { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { findDialect } from '@portolan/kubernetes/publish/find-dialect.ts';
import {
  ADDRESSES,
  arbitraryEndpoints,
  arbitraryNamespace,
  arbitraryService,
} from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import { findClusterReason } from '@portolan/server/reasons/cluster-reason.ts';
import type { Reason } from '@portolan/server/reasons/reason.ts';
import { OPEN_ZONE } from '@portolan/server/reasons/testing/listed-evidence.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordEvidence } from './record-evidence.ts';

const DOMAIN = toKey(parseName('cluster.local.'));
/** Reasons that say that a name does not exist. */
const MISSING: ReadonlySet<Reason['kind']> = new Set([
  'no-such-namespace',
  'no-such-service',
  'no-such-endpoint',
  'no-such-port',
  'not-a-name-form',
  'pods-not-served',
]);

const LABELS = [
  'web',
  'db',
  'tcp',
  'blue',
  'green',
  'red',
  'db-0',
  'db-1',
  'svc',
  'pod',
  '_http',
  '_tcp',
  '_udp',
  '_dns',
];
const label = fc.constantFrom(
  ...LABELS,
  ...ADDRESSES.map((text) => text.toLowerCase().replaceAll(/[.:]/g, '-')),
);
const name = fc.oneof(
  fc.array(label, { maxLength: 6 }),
  fc
    .tuple(fc.array(label, { maxLength: 2 }), fc.constantFrom('web', 'db'), fc.constantFrom('blue', 'green'))
    .map(([rest, service, namespace]) => [...rest, service, namespace, 'svc']),
);
const objects = fc.record({
  services: fc.array(arbitraryService, { maxLength: 8 }),
  endpoints: fc.array(arbitraryEndpoints, { maxLength: 8 }),
  namespaces: fc.array(arbitraryNamespace, { maxLength: 3 }),
});
const type = fc.constantFrom('A', 'AAAA', 'SRV', 'TXT') satisfies fc.Arbitrary<keyof typeof TYPE>;

describe.each(['coredns', 'kube-dns'] as const)('of the dialect %s', (dialectName) => {
  it('reasons agree with answers', () => {
    const pods = fc.constantFrom('disabled', 'insecure', 'verified');
    const property = fc.property(
      objects,
      fc.array(name, { minLength: 1, maxLength: 20 }),
      type,
      pods,
      (given, names, typeName, mode) => {
        const table = new TableWriter({ readers: 0, reservation: 2 ** 22, cacheOctets: 2 ** 16, seed: 4711 });
        const dialect = findDialect(dialectName);
        const cluster = new Cluster(
          { domain: DOMAIN, dialect, pods: mode, ttl: 30, ownAddresses: [] },
          table,
          new ManualClock(),
          silentLog,
        );
        for (const store of [cluster.services, cluster.endpoints, cluster.namespaces, cluster.pods])
          store.listStarted();
        for (const service of given.services) cluster.services.upsert(service);
        for (const slice of given.endpoints) cluster.endpoints.upsert(slice);
        for (const namespace of given.namespaces) cluster.namespaces.upsert(namespace);
        for (const store of [cluster.services, cluster.endpoints, cluster.namespaces, cluster.pods])
          store.listCompleted();
        cluster.settle();
        const evidence = new RecordEvidence(cluster);
        for (const labels of names) {
          const key = toKey(parseName([...labels, DOMAIN].join('.')));
          const zone = cluster.names.findZone(key);
          if (zone === undefined) throw new Error(`no zone for ${key}`);
          const answer = lookUp(cluster.names, zone, { name: key, type: TYPE[typeName], class: CLASS.IN });
          if (answer.kind !== 'nxdomain' && answer.kind !== 'nodata') continue;
          const reason = findClusterReason({
            labels: splitLabels(key).slice(0, -splitLabels(DOMAIN).length),
            type: typeName,
            isNoData: answer.kind === 'nodata',
            zone: { ...OPEN_ZONE, pods: mode },
            evidence,
          });
          const claim = `${key} ${typeName} ${answer.kind}: ${JSON.stringify(reason)}`;
          if (answer.kind === 'nxdomain') expect(reason.kind, claim).not.toBe('no-data');
          else expect(MISSING.has(reason.kind), claim).toBe(false);
        }
        cluster.stop();
      },
    );
    fc.assert(property, { numRuns: 300 });
  }, 60_000);
});
