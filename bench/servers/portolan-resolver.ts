/**
 * Our own server as a resolver: the example cluster, all other names from one upstream, one UDP reader.
 */
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import type { Place } from '../cores.ts';
import { findFreePort } from '../free-port.ts';
import { KNOWN } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import { type ProbedServer, waitUntilAnswers } from './server.ts';

/** Names of the example cluster. */
export const EXAMPLE_NAMES = [
  'kubernetes.default.svc.cluster.local',
  'kube-dns.kube-system.svc.cluster.local',
] as const;

export async function startPortolanResolver(
  { root }: Workplace,
  upstreamPort: number,
  place?: Place,
): Promise<ProbedServer> {
  const port = await findFreePort();
  const healthPort = await findFreePort();
  const args = [
    join(root, 'dist', 'portolan.js'),
    'serve',
    '--example',
    `--upstream=127.0.0.1:${upstreamPort}`,
    '--dns-bind-address=127.0.0.1',
    `--dns-port=${port}`,
    `--healthz-port=127.0.0.1:${healthPort}`,
    '--udp-readers=1',
    '--lameduck=0s',
    '--log-level=warn',
  ];
  const process_ = await ServerProcess.start('Portolan', process.execPath, args, place);
  await waitUntilAnswers(process_, port, KNOWN);
  await waitUntilAnswers(process_, port, EXAMPLE_NAMES[0]);
  return { name: 'Portolan', process: process_, port, healthPort };
}
