/**
 * NodeLocal DNSCache, or CoreDNS as it is configured there: a cache before a forwarder, where the environment names the
 * binary (`NODE_CACHE`, `COREDNS`).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { findFreePort } from '../free-port.ts';
import { KNOWN } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

interface Program {
  readonly name: string;
  readonly binary: string;
  /** Beside the Corefile's. */
  readonly flags: readonly string[];
}

/** Those that the environment names. */
export function findNodeCaches(): readonly Program[] {
  const { NODE_CACHE, COREDNS } = process.env;
  // Neither interface nor packet filter of this machine is touched.
  const flags = ['-localip', '127.0.0.1', '-setupinterface=false', '-setupiptables=false'];
  return [
    ...(NODE_CACHE ? [{ name: 'node-cache', binary: NODE_CACHE, flags }] : []),
    ...(COREDNS ? [{ name: 'CoreDNS', binary: COREDNS, flags: [] }] : []),
  ];
}

export async function startNodeCache(
  { folder }: Workplace,
  { name, binary, flags }: Program,
  upstreamPort: number,
): Promise<DnsServer> {
  const port = await findFreePort();
  const own = join(folder, `node-cache-${port}`);
  await mkdir(own, { recursive: true });
  const corefile = join(own, 'Corefile');
  await writeFile(corefile, configure(port, upstreamPort));
  const started = await ServerProcess.start(name, binary, ['-conf', corefile, ...flags]);
  await waitUntilAnswers(started, port, KNOWN);
  return { name, process: started, port };
}

function configure(port: number, upstreamPort: number): string {
  return `
.:${port} {
    bind 127.0.0.1
    errors
    cache 30
    forward . 127.0.0.1:${upstreamPort}
}
`;
}
