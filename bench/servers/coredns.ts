/**
 * CoreDNS with the same API server, if the environment names its binary: `COREDNS=/path/to/coredns`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { ZONE } from '../cluster.ts';
import type { Place } from '../cores.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import type { DnsServer } from './server.ts';

export function findCoreDns(): string | undefined {
  return process.env['COREDNS'] || undefined;
}

/** Starts it, and does not wait for its first answer. @param binary its path */
export async function startCoreDns(
  { folder }: Workplace,
  binary: string,
  kubeconfig: string,
  place?: Place,
): Promise<DnsServer> {
  const port = await findFreePort();
  const own = join(folder, `coredns-${port}`);
  await mkdir(own, { recursive: true });
  const corefile = join(own, 'Corefile');
  await writeFile(corefile, configure(port, kubeconfig));
  const started = await ServerProcess.start('CoreDNS', binary, ['-conf', corefile], place);
  return { name: 'CoreDNS', process: started, port };
}

/** As kubeadm has it: the cache does not hold names of the cluster, so that changes are seen. */
function configure(port: number, kubeconfig: string): string {
  return `
.:${port} {
    bind 127.0.0.1
    errors
    kubernetes ${ZONE} in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
        ttl 30
    }
    cache 30 {
        disable success ${ZONE}
        disable denial ${ZONE}
    }
    loadbalance
}
`;
}
