/**
 * Addresses that no service can mean, such as that of a cloud's metadata service: they have no reverse name, whoever lists
 * them as endpoints. Their forward answers stay.
 */
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { describe, expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const METADATA = '254.169.254.169.in-addr.arpa.';
const POD = '1.0.244.10.in-addr.arpa.';
const NAME = 'trap.blue.svc.cluster.local.';

/** A headless service whose slices list these addresses. */
function clusterWith(
  dialect: 'coredns' | 'kube-dns',
  slices: readonly (readonly string[])[],
  { namesSpecialAddresses = false, haveHostnames = true } = {},
): AskableCluster {
  const cluster = new AskableCluster(dialect, { namesSpecialAddresses });
  const service = { kind: 'Service', namespace: 'blue', name: 'trap', ports: PORTS } as const;
  cluster.list([
    { ...service, address: { kind: 'headless' } },
    ...slices.map((addresses, index) => ({
      ...({ kind: 'Endpoints', namespace: 'blue', name: `trap-${index}`, service: 'trap' } as const),
      groups: [
        {
          ports: PORTS,
          addresses: addresses.map((address, at) => ({
            address,
            hostname: haveHostnames ? `one-${at}` : undefined,
          })),
        },
      ],
    })),
  ]);
  return cluster;
}

describe.each(['coredns', 'kube-dns'] as const)('%s: special addresses', (dialect) => {
  it('have no reverse name, and keep their forward names', async () => {
    const cluster = clusterWith(dialect, [['169.254.169.254', '10.244.0.1']]);
    const pointer = await cluster.askChain(question(METADATA, TYPE.PTR));
    expect([
      pointer.answers.length,
      cluster.askTable(question(METADATA, TYPE.PTR))?.answers.length ?? 0,
    ]).toEqual([0, 0]);
    expect(cluster.askTable(question(POD, TYPE.PTR))?.answers).toHaveLength(1);
    expect(cluster.askTable(question(NAME, TYPE.A))?.answers).toHaveLength(2);
    expect(cluster.cluster.state().addresses).toBe(1);
    // Nor do they make the names above them exist.
    const above = await cluster.askChain(question('254.169.in-addr.arpa.', TYPE.A));
    expect(above.header.rcode).not.toBe(RCODE.NOERROR);
  });

  it('have one where CoreDNS is to be repeated exactly', () => {
    const cluster = clusterWith(dialect, [['169.254.169.254']], { namesSpecialAddresses: true });
    expect(cluster.askTable(question(METADATA, TYPE.PTR))?.answers).toHaveLength(1);
  });

  it('occur once in answers, although two slices list them', async () => {
    const slices = [['169.254.169.254'], ['169.254.169.254', '10.244.0.1']];
    const cluster = clusterWith(dialect, slices, { haveHostnames: false });
    const asked = question(NAME, TYPE.A);
    const message = cluster.askTable(asked) ?? (await cluster.askChain(asked));
    expect(message.answers).toHaveLength(2);
    for (const slice of ['blue/trap-0', 'blue/trap-1']) cluster.cluster.endpoints.remove(slice);
    expect(cluster.cluster.state().addresses).toBe(0);
  });
});
