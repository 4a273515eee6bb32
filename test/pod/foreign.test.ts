/**
 * Our dnsmasq and our sidecar with Knot DNS instead of kube-dns.
 */
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { beforeAll, expect, it } from 'vitest';
import { type Knot, runKnot } from '../dnsmasq/knot.ts';
import { afterFile } from '../support/after-file.ts';
import { describeWithTool } from '../support/tools.ts';
import { ConfigMapVolume } from './config-map.ts';
import { type Layout, layOutAround } from './layouts.ts';
import { checkAll, startAll } from './part.ts';
import { pick, untilProbes } from './probes.ts';
import { startExternalServer } from './upstream.ts';

const ZONES = {
  'cluster.local.': `
@ 30 SOA ns.dns hostmaster 1 7200 1800 86400 30
@ 30 NS ns.dns
ns.dns 30 A 10.96.0.10
kubernetes.default.svc 30 A 10.96.0.1
kubernetes.default.svc 30 SRV 10 100 443 kubernetes.default.svc
`,
  '10.in-addr.arpa.': `
@ 30 SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 7200 1800 86400 30
@ 30 NS ns.dns.cluster.local.
1.0.96 30 PTR kubernetes.default.svc.cluster.local.
`,
};

describeWithTool('knotd', 'around Knot DNS', () => {
  let knot: Knot;
  let pod: Pick<Layout, 'parts' | 'front' | 'probes'>;

  beforeAll(async () => {
    knot = await runKnot(ZONES, afterFile);
    const { address: upstream } = await startExternalServer('192.0.2.1', afterFile);
    const { path } = await makeTemporaryFolder(afterFile);
    const configFolder = join(path, 'config');
    await new ConfigMapVolume(configFolder).write({ upstreamNameservers: JSON.stringify([upstream]) });
    pod = await layOutAround(knot.port, { configFolder, upstream });
    await startAll(pod.parts, pod.front);
    await untilProbes(pod.probes, 'healthy', { alive: () => checkAll(pod.parts) });
  }, 120_000);

  it.each(['udp', 'tcp'] as const)(
    'names of the cluster are its own, others of the world, by %s',
    async (transport) => {
      const told = (name: string, type: 'A' | 'SRV' | 'PTR') =>
        askShort(pod.front, name, type, { transport });
      expect(await told('kubernetes.default.svc.cluster.local', 'A')).toBe('10.96.0.1');
      expect(await told('kubernetes.default.svc.cluster.local', 'SRV')).toBe(
        '443 kubernetes.default.svc.cluster.local.',
      );
      expect(await told('1.0.96.10.in-addr.arpa', 'PTR')).toBe('kubernetes.default.svc.cluster.local.');
      expect(await told('none.default.svc.cluster.local', 'A')).toBe('NXDOMAIN');
      expect(await told('www.test', 'A')).toBe('192.0.2.1');
    },
  );

  it('the probe of kube-dns says when it is gone', { timeout: 60_000 }, async () => {
    await knot.stop();
    await untilProbes(pick(pod.probes, ['kubedns liveness']), 'unhealthy');
  });
});
