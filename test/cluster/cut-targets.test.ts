/**
 * SRV answers that are cut begin at a random endpoint, so that no endpoint of a service is always left out.
 */
import { type Message, TYPE } from '@portolan/dns/types.ts';
import type { EndpointsObject, ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { describe, expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const SERVICE: ServiceObject = {
  kind: 'Service',
  namespace: 'blue',
  name: 'web',
  address: { kind: 'headless' },
  ports: PORTS,
};
const NAMES = ['web.blue.svc.cluster.local.', '_http._tcp.web.blue.svc.cluster.local.'];
const TURNS = 2400;

function slices(size: number, hostnames: 'none' | 'shared'): readonly EndpointsObject[] {
  const addresses = Array.from({ length: size }, (_, index) => ({
    address: `10.1.${Math.floor(index / 250)}.${index % 250}`,
    hostname: hostnames === 'shared' ? `h-${Math.floor(index / 2)}` : undefined,
  }));
  return Array.from({ length: Math.ceil(size / 20) }, (_, number) => ({
    kind: 'Endpoints',
    namespace: 'blue',
    name: `web-${number}`,
    service: 'web',
    groups: [{ addresses: addresses.slice(number * 20, number * 20 + 20), ports: PORTS }],
  }));
}

const targetsIn = (message: Message | undefined): readonly string[] =>
  message?.answers.flatMap(({ data }) => (data.kind === 'SRV' ? [data.target] : [])) ?? [];

describe.each(['coredns', 'kube-dns'] as const)('%s', (dialect) => {
  it.each([
    [40, 'none'],
    [400, 'none'],
    // kube-dns leaves them to the chain.
    [40, 'shared'],
  ] as const)('%i endpoints, hostnames: %s', (size, hostnames) => {
    const cluster = new AskableCluster(dialect);
    cluster.list([SERVICE, ...slices(size, hostnames)]);
    for (const name of NAMES) {
      const asked = question(name, TYPE.SRV);
      const whole = cluster.askTable(asked);
      if (whole === undefined) {
        expect([dialect, hostnames]).toEqual(['kube-dns', 'shared']);
        continue;
      }
      const all = new Set(targetsIn(whole));
      expect(all.size).toBe(hostnames === 'shared' ? size / 2 : size);
      const seen = new Set<string>();
      for (let turn = 0; turn < TURNS; turn += 1) {
        const message = cluster.askTable(asked, undefined, 'udp');
        const targets = targetsIn(message);
        expect(message?.header.truncated).toBe(true);
        expect(targets.length).toBeGreaterThan(3);
        expect(new Set(targets).size).toBe(targets.length);
        for (const target of targets) seen.add(target);
      }
      expect(seen).toEqual(all);
    }
  });

  it('an answer that is whole keeps the order of the slices', () => {
    const cluster = new AskableCluster(dialect);
    cluster.list([SERVICE, ...slices(4, 'none')]);
    const asked = question(NAMES[0] ?? '', TYPE.SRV);
    const first = targetsIn(cluster.askTable(asked));
    for (let turn = 0; turn < 20; turn += 1) expect(targetsIn(cluster.askTable(asked))).toEqual(first);
  });
});
