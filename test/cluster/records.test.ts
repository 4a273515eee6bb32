/**
 * The records of a cluster as a snapshot: what it gives back, and what damaged lines do.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryObjects, LIKELY_NAMES } from '../../src/kube/testing/arbitrary-objects.ts';
import { AskableCluster, question } from '../../src/plugins/kubernetes/testing/askable-cluster.ts';
import { TYPE } from '../../src/wire/types.ts';
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

describe.each(['coredns', 'kube-dns'] as const)('%s: a snapshot', (dialect) => {
  it('gives the answers that the cluster gave', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const before = new AskableCluster(dialect, { pods: 'verified' });
        before.begin(objects);
        before.cluster.endpoints.listCompleted();
        const lines = [...before.cluster.snapshot()];
        const after = new AskableCluster(dialect, { pods: 'verified' });
        after.cluster.restore(lines);
        after.cluster.settle();
        before.cluster.settle();
        expect(portrait(after)).toEqual(portrait(before));
        expect([...after.cluster.snapshot()].sort()).toEqual(lines.sort());
      }),
      { numRuns: 40 },
    );
  });

  it('never makes a reader fail, whatever its octets are', { timeout: 60_000 }, () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(arbitraryObjects, damage, (objects, changes) => {
        const before = new AskableCluster(dialect);
        before.begin(objects);
        const lines = [...before.cluster.snapshot()].map((line) => {
          const octets = Buffer.from(line.slice(1), 'base64');
          for (const [at, value] of changes) if (octets.length > 0) octets[at % octets.length] = value;
          return `${line.charAt(0)}${octets.toString('base64')}`;
        });
        const after = new AskableCluster(dialect);
        after.cluster.restore(lines);
        after.cluster.settle();
        for (const message of portrait(after)) if (message !== undefined) expect(message.name).not.toBe('');
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
