/**
 * The records of a cluster as a snapshot: what it gives back, and what damaged octets do.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { keyOfObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { arbitraryObjects, LIKELY_NAMES } from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const TYPES = [TYPE.A, TYPE.AAAA, TYPE.SRV, TYPE.CNAME, TYPE.PTR];

/** What the table says, without order. */
function portrait(cluster: AskableCluster) {
  return LIKELY_NAMES.flatMap((name) =>
    TYPES.map((type) => {
      const message = cluster.askTable(question(name, type));
      return message && recordMessage(message);
    }),
  );
}

/** The octets of a cluster's snapshot. */
const takeSnapshot = ({ cluster }: AskableCluster): Buffer => Buffer.concat(cluster.snapshot().parts);

/** What the records of a cluster say by the handler chain, which derives names as values. */
async function chainPortrait(cluster: AskableCluster) {
  const messages = [];
  for (const name of LIKELY_NAMES)
    for (const type of TYPES) messages.push(recordMessage(await cluster.askChain(question(name, type))));
  return messages;
}

describe.each(['coredns', 'kube-dns'] as const)('%s: a snapshot', (dialect) => {
  it('gives the answers that the cluster gave', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const before = new AskableCluster(dialect, { pods: 'verified' });
        before.begin(objects);
        before.cluster.endpoints.listCompleted();
        const after = new AskableCluster(dialect, { pods: 'verified' });
        expect(after.cluster.restore(takeSnapshot(before))).toBe(true);
        after.cluster.settle();
        before.cluster.settle();
        expect(portrait(after)).toEqual(portrait(before));
        expect(after.cluster.log.digest).toBe(before.cluster.log.digest);
        expect(after.cluster.state().addresses).toBe(before.cluster.state().addresses);
      }),
      { numRuns: 40 },
    );
  });

  it('leaves nothing behind when lists replace it, and costs nothing where they are equal', () => {
    fc.assert(
      fc.property(arbitraryObjects, arbitraryObjects, (some, others) => {
        // Of several states of an object the last one counts.
        const objects = [
          ...new Map(some.map((object) => [`${object.kind} ${keyOfObject(object)}`, object])).values(),
        ];
        const before = new AskableCluster(dialect, { pods: 'verified' });
        before.list(objects);
        const after = new AskableCluster(dialect, { pods: 'verified' });
        after.cluster.restore(takeSnapshot(before));
        after.begin(objects);
        const { generation } = after.cluster;
        after.list(objects);
        expect(after.cluster.generation).toBe(generation);
        expect(portrait(after)).toEqual(portrait(before));
        after.list(others);
        const fresh = new AskableCluster(dialect, { pods: 'verified' });
        fresh.list(others);
        expect(portrait(after)).toEqual(portrait(fresh));
        for (const _ of after.cluster.clear());
        expect(after.cluster.octets).toBe(0);
        expect(after.cluster.state().addresses).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('with octets that were changed is refused, or says what its records say', {
    timeout: 120_000,
  }, async () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(arbitraryObjects, damage, async (objects, changes) => {
        const before = new AskableCluster(dialect);
        before.begin(objects);
        const octets = takeSnapshot(before);
        for (const [at, value] of changes) octets[at % octets.length] = value;
        const after = new AskableCluster(dialect);
        const { octets: unused } = after.cluster;
        if (!after.cluster.restore(octets)) {
          expect(after.cluster.octets).toBe(unused);
          return;
        }
        after.cluster.settle();
        const byTable = portrait(after);
        const byChain = await chainPortrait(after);
        // A record has an external name twice: as text for the chain, and in wire form for the table. And the chain refuses what no
        // API server can say, such as an endpoint whose label is not that of its address.
        for (const [index, message] of byTable.entries())
          if (
            byChain[index]?.rcode !== 'SERVFAIL' &&
            message?.answer.some((record) => record.includes(' CNAME ')) === false
          )
            expect(message).toEqual(byChain[index]);
        // A copy of it is one too.
        const again = new AskableCluster(dialect);
        expect(again.cluster.restore(takeSnapshot(after))).toBe(true);
        again.cluster.settle();
        expect(portrait(again)).toEqual(byTable);
        for (const _ of after.cluster.clear());
        expect(after.cluster.octets).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a name with many claims on its address', () => {
  it('has the names of 64 services, and loses them one by one', () => {
    const cluster = new AskableCluster('coredns');
    const names = Array.from({ length: 100 }, (_, index) => `web-${index}`);
    const ports = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
    const slices = names.map((name) => ({
      ...({ kind: 'Endpoints', namespace: 'blue', name, service: name } as const),
      groups: [{ addresses: [{ address: '10.244.0.1', hostname: undefined }], ports }],
    }));
    const services = names.map((name) => ({
      ...({ kind: 'Service', namespace: 'blue', name, ports } as const),
      address: { kind: 'headless' } as const,
    }));
    cluster.list([...services, ...slices]);
    const pointers = () =>
      cluster.askTable(question('1.0.244.10.in-addr.arpa.', TYPE.PTR))?.answers.length ?? 0;
    expect(pointers()).toBe(64);
    for (const name of names.slice(0, 97)) cluster.cluster.endpoints.remove(`blue/${name}`);
    expect(pointers()).toBe(3);
    for (const name of names) cluster.cluster.endpoints.remove(`blue/${name}`);
    expect(cluster.cluster.state().addresses).toBe(0);
  });
});
