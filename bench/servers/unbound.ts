/**
 * Unbound as a forwarder: one thread, no validation, the same cache size as ours.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { findFreePort } from '../free-port.ts';
import { KNOWN } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

/** @param more lines of its section `server` */
export async function startUnbound(
  workplace: Workplace,
  upstreamPort: number,
  more: readonly string[] = [],
): Promise<DnsServer> {
  const folder = join(workplace.folder, 'unbound');
  const port = await findFreePort();
  const path = join(folder, 'unbound.conf');
  await mkdir(folder, { recursive: true });
  await writeFile(path, configure(folder, port, upstreamPort, more));
  const started = await ServerProcess.start('Unbound', findUnbound(), ['-d', '-c', path]);
  await waitUntilAnswers(started, port, KNOWN);
  return { name: 'Unbound', process: started, port };
}

/** The one that the environment names, or the installed one. */
export function findUnbound(): string {
  return process.env['UNBOUND'] || 'unbound';
}

function configure(folder: string, port: number, upstreamPort: number, more: readonly string[]): string {
  return `
server:
    directory: "${folder}"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    verbosity: 0
    num-threads: 1
    interface: 127.0.0.1
    port: ${port}
    do-ip6: no
    do-not-query-localhost: no
    module-config: "iterator"
    msg-cache-size: 8m
    rrset-cache-size: 8m
${more.map((line) => `    ${line}\n`).join('')}forward-zone:
    name: "."
    forward-addr: 127.0.0.1@${upstreamPort}
remote-control:
    control-enable: no
`;
}
