/**
 * Knot DNS with one zone from a file, one worker of each kind.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import type { Place } from '../cores.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

export interface KnotTask {
  /** For people, and for its folder. */
  readonly name: string;
  readonly domain: string;
  readonly zoneFile: string;
  /** A name that has an address once the server is up. */
  readonly probe: string;
  readonly place: Place;
}

export async function startKnotProcess(workplace: Workplace, task: KnotTask): Promise<DnsServer> {
  const { name, domain, zoneFile, probe, place } = task;
  const folder = join(workplace.folder, name);
  const port = await findFreePort();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'zone'), zoneFile);
  await writeFile(join(folder, 'knot.conf'), configure(folder, domain, port));
  const process = await ServerProcess.start(name, 'knotd', ['-c', join(folder, 'knot.conf')], place);
  await waitUntilAnswers(process, port, probe);
  return { name, process, port };
}

function configure(folder: string, domain: string, port: number): string {
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
  - domain: ${domain}
    storage: ${folder}
    file: zone
    zonefile-load: whole
    journal-content: none
`;
}
