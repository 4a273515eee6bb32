/**
 * Knot DNS with the same names in a zone file, one UDP worker.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { type Cluster, ZONE } from '../cluster.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import { writeZoneFile } from '../zone-file.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

export async function startKnot(workplace: Workplace, cluster: Cluster): Promise<DnsServer> {
  const folder = join(workplace.folder, 'knot');
  const port = await findFreePort();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'zone'), writeZoneFile(cluster));
  await writeFile(join(folder, 'knot.conf'), configure(folder, port));
  const process = await ServerProcess.start('Knot', 'knotd', ['-c', join(folder, 'knot.conf')]);
  await waitUntilAnswers(process, port, `ns.dns.${ZONE}`);
  return { name: 'Knot', process, port };
}

function configure(folder: string, port: number): string {
  return `
server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: warning
database:
    storage: ${folder}
zone:
  - domain: ${ZONE}
    storage: ${folder}
    file: zone
    zonefile-load: whole
    journal-content: none
`;
}
