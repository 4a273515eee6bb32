/**
 * dnsmasq as in kube-dns: a cache before the server that knows the cluster.
 *
 * After a warm-up it answers everything from its cache. With the names as its own records it would be slower: it searches its
 * SRV records linearly.
 */
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

/** Seconds; the most that dnsmasq takes. */
const MIN_TTL = 3600;

/** @param known a name that has an address */
export async function startDnsmasq(
  { folder }: Workplace,
  upstreamPort: number,
  known: string,
): Promise<DnsServer> {
  const port = await findFreePort();
  const process = await ServerProcess.start('dnsmasq', 'dnsmasq', [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    `--pid-file=${join(folder, 'dnsmasq.pid')}`,
    `--port=${port}`,
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
    '--no-resolv',
    '--no-hosts',
    `--server=127.0.0.1#${upstreamPort}`,
    '--cache-size=10000',
    `--min-cache-ttl=${MIN_TTL}`,
    `--neg-ttl=${MIN_TTL}`,
    '--dns-forward-max=1000',
  ]);
  await waitUntilAnswers(process, port, known);
  return { name: 'dnsmasq (cached)', process, port };
}
