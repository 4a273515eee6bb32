/**
 * The cache of a node: ours, and NodeLocal DNSCache and CoreDNS with the same Corefile if the environment names their binaries
 * (`NODE_CACHE`, `COREDNS`). It changes neither an interface nor the packet filter of this machine.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import type { Place } from '../cores.ts';
import { findFreePort } from '../free-port.ts';
import { DOMAIN } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import type { DnsServer } from './server.ts';

export interface NodeCache {
  readonly name: string;
  /** Starts it, and does not wait for its first answer. */
  begin(workplace: Workplace, upstreamPort: number, place?: Place): Promise<DnsServer>;
}

/** In place of `cluster.local`: the upstream has its names. The server of this zone is asked by TCP. */
export const CLUSTER_ZONE = `there.${DOMAIN}`;
const BY_TCP = ' {\n        force_tcp\n    }';

const OWN_NETWORK = ['-localip', '127.0.0.1', '-setupinterface=false', '-setupiptables=false'];

/** Ours first. */
export function findNodeCaches(): readonly NodeCache[] {
  const { NODE_CACHE, COREDNS } = process.env;
  return [
    {
      name: 'Portolan',
      begin: ({ root, ...workplace }, ...rest) => {
        const program = [process.execPath, join(root, 'dist', 'portolan.js'), 'node-cache', ...OWN_NETWORK];
        return begin('Portolan', program, { root, ...workplace }, ...rest);
      },
    },
    ...(NODE_CACHE ? [peer('node-cache', [NODE_CACHE, ...OWN_NETWORK])] : []),
    ...(COREDNS ? [peer('CoreDNS', [COREDNS])] : []),
  ];
}

function peer(name: string, program: readonly string[]): NodeCache {
  return { name, begin: (...rest) => begin(name, program, ...rest) };
}

async function begin(
  name: string,
  [command = '', ...words]: readonly string[],
  { folder }: Workplace,
  upstreamPort: number,
  place?: Place,
): Promise<DnsServer> {
  const port = await findFreePort();
  const own = join(folder, `node-cache-${port}`);
  await mkdir(own, { recursive: true });
  const corefile = join(own, 'Corefile');
  await writeFile(corefile, configure(port, await findFreePort(), await findFreePort(), upstreamPort));
  const started = await ServerProcess.start(name, command, [...words, '-conf', corefile], place);
  return { name, process: started, port };
}

/** As the addon's template is rendered, but for the ports, the zone of the cluster, and one upstream for all names. */
function configure(port: number, metricsPort: number, healthPort: number, upstreamPort: number): string {
  const block = (zone: string, cache: string, properties: string, health = '') => `
${zone}:${port} {
    errors
    cache ${cache}
    reload
    loop
    bind 127.0.0.1
    forward . 127.0.0.1:${upstreamPort}${properties}
    prometheus 127.0.0.1:${metricsPort}
    ${health}
}
`;
  const cluster = '{\n        success 9984 30\n        denial 9984 5\n    }';
  return [
    block(CLUSTER_ZONE, cluster, BY_TCP, `health 127.0.0.1:${healthPort}`),
    block('in-addr.arpa', '30', BY_TCP),
    block('ip6.arpa', '30', BY_TCP),
    block('.', '30', ''),
  ].join('');
}
