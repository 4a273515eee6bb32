/**
 * How to start each role that forwards, with one upstream server on loopback.
 */
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';

export interface Starting {
  /** `127.0.0.1:5300`. */
  readonly upstream: string;
  readonly port: number;
}

async function writeCorefile({ upstream, port }: Starting): Promise<string> {
  const folder = await makeTemporaryFolder();
  const text = `.:${port} {\n bind 127.0.0.1\n errors\n cache 30\n forward . ${upstream}\n}\n`;
  return await folder.write('Corefile', text);
}

/** The arguments of each role that forwards. */
export const ROLES: ReadonlyMap<string, (starting: Starting) => Promise<readonly string[]>> = new Map([
  [
    'serve',
    async ({ upstream, port }: Starting) => [
      '--example',
      '--dns-bind-address',
      '127.0.0.1',
      '--dns-port',
      String(port),
      '--healthz-port',
      '0',
      '--upstream',
      upstream,
    ],
  ],
  [
    'kube-dns',
    async ({ upstream, port }: Starting) => {
      const cluster = await ApiServerDouble.start({ objects: [] });
      onTestFinished(() => cluster.stop());
      return [
        '--domain=cluster.local.',
        `--dns-port=${port}`,
        '--dns-bind-address=127.0.0.1',
        '--healthz-port=0',
        `--kube-master-url=${cluster.url}`,
        `--nameservers=${upstream}`,
      ];
    },
  ],
  ['coredns', async (starting: Starting) => ['-conf', await writeCorefile(starting)]],
  [
    'node-cache',
    async (starting: Starting) => [
      '-conf',
      await writeCorefile(starting),
      '-localip',
      '127.0.0.1',
      '-setupinterface=false',
      '-setupiptables=false',
      '-metrics-listen-address',
      '127.0.0.1:0',
    ],
  ],
  [
    'dnsmasq',
    async ({ upstream, port }: Starting) => [
      '-k',
      '-C',
      '/dev/null',
      '--no-hosts',
      '--no-resolv',
      '-a',
      '127.0.0.1',
      '-z',
      '--log-facility=-',
      '--user=',
      '--group=',
      '-p',
      String(port),
      `--server=${upstream.replace(':', '#')}`,
    ],
  ],
  [
    'skydns',
    async ({ upstream, port }: Starting) => [
      '-etcd3',
      '-machines',
      (await startEtcd()).first.url,
      '-addr',
      `127.0.0.1:${port}`,
      '-domain',
      'skydns.test.',
      '-nameservers',
      upstream,
    ],
  ],
]);

/** Other manners of the same roles: the command, and its arguments. */
export const MANNERS: ReadonlyMap<string, (starting: Starting) => Promise<readonly string[]>> = new Map([
  ...Array.from(
    ROLES,
    ([role, makeArguments]) =>
      [role, async (starting: Starting) => [role, ...(await makeArguments(starting))]] as const,
  ),
  [
    'coredns -compat',
    async (starting: Starting) => ['coredns', '-compat', '1.14', '-conf', await writeCorefile(starting)],
  ],
  [
    'dnsmasq-nanny',
    async (starting: Starting) => [
      'dnsmasq-nanny',
      '-logtostderr',
      `-configDir=${(await makeTemporaryFolder()).path}`,
      '--',
      ...((await ROLES.get('dnsmasq')?.(starting)) ?? []),
    ],
  ],
]);
