/**
 * Knot DNS with the same names in a zone file.
 */
import { type Cluster, ZONE } from '../cluster.ts';
import type { Workplace } from '../workplace.ts';
import { writeZoneFile } from '../zone-file.ts';
import { startKnotProcess } from './knot-process.ts';
import type { DnsServer } from './server.ts';

export function startKnot(workplace: Workplace, cluster: Cluster): Promise<DnsServer> {
  return startKnotProcess(workplace, {
    name: 'Knot',
    domain: ZONE,
    zoneFile: writeZoneFile(cluster),
    probe: `ns.dns.${ZONE}`,
    place: 'server core',
  });
}
