/**
 * The server that resolvers ask: Knot with one small zone, away from the core of those that are measured.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { findFreePort } from '../free-port.ts';
import { ADDRESSES, DOMAIN, KNOWN } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

/** Seconds: longer than any measurement, so that nothing that was cached expires. */
const TTL = 7200;

export async function startUpstream(workplace: Workplace): Promise<DnsServer> {
  const folder = join(workplace.folder, 'upstream');
  const port = await findFreePort();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'zone'), ZONE_FILE);
  await writeFile(join(folder, 'knot.conf'), configure(folder, port));
  const args = ['-c', join(folder, 'knot.conf')];
  const process = await ServerProcess.start('the upstream (Knot)', 'knotd', args, 'other cores');
  await waitUntilAnswers(process, port, KNOWN);
  return { name: 'upstream', process, port };
}

const ZONE_FILE = `$ORIGIN ${DOMAIN}.
$TTL ${TTL}
@ SOA ns hostmaster 1 7200 1800 86400 ${TTL}
@ NS ns
ns A 192.0.2.53
*.there A ${ADDRESSES.A}
*.there AAAA ${ADDRESSES.AAAA}
`;

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
  - domain: ${DOMAIN}
    storage: ${folder}
    file: zone
    zonefile-load: whole
    journal-content: none
`;
}
