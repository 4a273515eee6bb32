/**
 * The names of a cluster set: sections of the Multicluster DNS specification of Kubernetes, and what CoreDNS does.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EndpointsObject, ServiceObject } from '../../objects/objects.ts';
import { arbitraryObjects, LIKELY_NAMES } from '../../testing/arbitrary-objects.ts';
import { findClusterLabels } from './cluster-set.ts';
import { AskableCluster, question } from './testing/askable-cluster.ts';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const service = (name: string, address: ServiceObject['address']): ServiceObject => ({
  kind: 'Service',
  namespace: 'shop',
  name,
  address,
  ports: PORTS,
});

function slice(service: string, cluster: string | undefined, hostnames: Readonly<Record<string, string>>) {
  const addresses = Object.entries(hostnames).map(([address, hostname]) => ({
    address,
    hostname: hostname === '' ? undefined : hostname,
  }));
  const object: EndpointsObject = {
    kind: 'Endpoints',
    namespace: 'shop',
    name: `${service}-${cluster}`,
    service,
    groups: [{ addresses, ports: PORTS }],
    ...(cluster !== undefined && { cluster }),
  };
  return object;
}

function clusterSet(restored = NOTHING_RESTORED): AskableCluster {
  const clusterLabels = findClusterLabels(restored);
  const cluster = new AskableCluster('coredns', { clusterLabels, reverseZones: [] });
  cluster.list([
    { kind: 'Namespace', name: 'shop' },
    service('cart', { kind: 'clusterIPs', addresses: ['10.42.0.1', 'fd42::1'] }),
    service('db', { kind: 'headless' }),
    service('empty', { kind: 'headless' }),
    slice('cart', 'west', { '10.1.0.7': 'cart-0' }),
    slice('db', 'west', { '10.1.0.1': 'db-0', '10.1.0.2': '' }),
    slice('db', 'east', { '10.2.0.1': 'db-0', 'fd02::': '' }),
    slice('db', 'Not A Label', { '10.3.0.1': 'db-0' }),
  ]);
  return cluster;
}

/** What the chain answers, after the table if that does. */
async function ask(cluster: AskableCluster, below: string, type: number) {
  const asked = question(`${below}.svc.cluster.local.`, type);
  const byTable = cluster.askTable(asked);
  const byChain = await cluster.askChain(asked);
  const texts = (message: typeof byChain) =>
    message.header.rcode === RCODE.NOERROR
      ? message.answers.map((record) => presentRecord(record).split(' ').slice(4).join(' ')).sort()
      : message.header.rcode;
  if (byTable !== undefined) expect(texts(byTable)).toEqual(texts(byChain));
  return texts(byChain);
}

describe('a cluster set', () => {
  const cluster = clusterSet();

  it.each([
    ['cart.shop', TYPE.A, ['10.42.0.1']],
    ['cart.shop', TYPE.AAAA, ['fd42::1']],
    ['cart.shop', TYPE.SRV, ['0 50 80 cart.shop.svc.cluster.local.']],
    ['_http._tcp.cart.shop', TYPE.A, ['10.42.0.1']],
    ['cart-0.west.cart.shop', TYPE.A, ['10.1.0.7']],
    ['db.shop', TYPE.A, ['10.1.0.1', '10.1.0.2', '10.2.0.1', '10.3.0.1']],
    ['db.shop', TYPE.AAAA, ['fd02::']],
    ['db-0.west.db.shop', TYPE.A, ['10.1.0.1']],
    ['DB-0.East.db.shop', TYPE.A, ['10.2.0.1']],
    ['10-1-0-2.west.db.shop', TYPE.A, ['10.1.0.2']],
    ['fd02--0.east.db.shop', TYPE.AAAA, ['fd02::']],
    ['db-0.west.db.shop', TYPE.SRV, ['0 100 80 db-0.west.db.shop.svc.cluster.local.']],
    ['west.db.shop', TYPE.A, []],
    ['north.db.shop', TYPE.A, RCODE.NXDOMAIN],
    ['db-0.db.shop', TYPE.A, RCODE.NXDOMAIN],
    ['db-0.north.db.shop', TYPE.A, RCODE.NXDOMAIN],
    ['http.tcp.db.shop', TYPE.SRV, RCODE.NXDOMAIN],
    ['http._tcp.db.shop', TYPE.A, ['10.1.0.1', '10.1.0.2', '10.2.0.1', '10.3.0.1']],
    ['empty.shop', TYPE.A, RCODE.NXDOMAIN],
    ['none.shop', TYPE.A, RCODE.NXDOMAIN],
    ['shop', TYPE.A, []],
  ])('%s, type %i', async (below, type, expected) => {
    expect(await ask(cluster, below, type)).toEqual(expected);
  });

  it('has the label of the cluster in targets', async () => {
    expect(await ask(cluster, '_http._tcp.db.shop', TYPE.SRV)).toEqual(
      ['10-3-0-1', 'db-0.east', 'db-0.west', '10-1-0-2.west', 'fd02--0.east']
        .map((label) => `0 20 80 ${label}.db.shop.svc.cluster.local.`)
        .sort(),
    );
  });

  it('denies the label of a cluster where CoreDNS does', async () => {
    expect(await ask(clusterSet(new Set(['cluster-labels'])), 'west.db.shop', TYPE.A)).toBe(RCODE.NXDOMAIN);
  });

  it('is composed as the chain says, for any objects', { timeout: 60_000 }, async () => {
    const objects = fc
      .tuple(arbitraryObjects, fc.constantFrom('west', 'east'))
      .map(([all, cluster]) => all.map((one) => (one.kind === 'Endpoints' ? { ...one, cluster } : one)));
    await fc.assert(
      fc.asyncProperty(objects, async (all) => {
        const random = new AskableCluster('coredns', { clusterLabels: 'exist', reverseZones: [] });
        random.list(all);
        for (const name of LIKELY_NAMES)
          for (const type of [TYPE.A, TYPE.AAAA, TYPE.SRV]) {
            const asked = question(name, type);
            const byTable = random.askTable(asked);
            if (byTable === undefined) continue;
            const byChain = await random.askChain(asked);
            expect(byTable.header.rcode).toBe(byChain.header.rcode);
            expect(byTable.answers.map(presentRecord).sort()).toEqual(
              byChain.answers.map(presentRecord).sort(),
            );
          }
      }),
      { numRuns: 10 },
    );
  });
});
