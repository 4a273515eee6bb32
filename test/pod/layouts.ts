/**
 * The layouts of the kube-dns pod as in our manifests. Replaced are only ports, addresses and folders by free ones, the sidecar's
 * interval by a short one, and files of the machine by files of the test.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { type LayoutFolder, readProbes, readWords } from './containers.ts';
import { Part } from './part.ts';
import type { Probes } from './probes.ts';

export interface Dependencies {
  /** URL of the API server. */
  readonly master: string;
  /** Where the ConfigMap is mounted. */
  readonly configFolder: string;
  /** Whom the original dnsmasq asks about names outside, as `127.0.0.1:5300`. */
  readonly upstream: string;
}

type DnsmasqDependencies = Omit<Dependencies, 'master'>;

export interface Layout {
  readonly parts: readonly Part[];
  /** Where clients ask. */
  readonly front: DnsServer;
  /** What kubelet looks at. */
  readonly probes: Probes;
  /** The probes that turn unhealthy when a part dies, by the part's name. */
  readonly missed: Readonly<Record<string, readonly string[]>>;
  /** URLs of metrics: those of the originals, by the container that gave them in the pod of three, and our own. */
  readonly metrics: { readonly kubedns: string; readonly sidecar: string; readonly own: string };
  /** URL of the zone as JSON. */
  readonly cache: string;
}

const HERE = '127.0.0.1';

/** In the place of 10053, 53, 8081, 10055 and 10054. */
interface Ports {
  readonly kubedns: number;
  readonly front: number;
  readonly readiness: number;
  readonly kubednsMetrics: number;
  readonly sidecar: number;
}

export const LAYOUTS = {
  'three containers': (dependencies: Dependencies) => layOutThree(dependencies, 'ours'),
  'the original dnsmasq between ours': (dependencies: Dependencies) => layOutThree(dependencies, 'original'),
  'one container': layOutOne,
} as const;
export type LayoutName = keyof typeof LAYOUTS;

async function layOutThree(dependencies: Dependencies, dnsmasq: 'ours' | 'original'): Promise<Layout> {
  const ports = await findPorts();
  const here = [
    `--dns-bind-address=${HERE}`,
    `--healthz-port=${ports.readiness}`,
    `--kube-master-url=${dependencies.master}`,
  ];
  const args = makeArguments('kube-dns', 'kubedns', ports, dependencies, here);
  const environment = { PROMETHEUS_PORT: String(ports.kubednsMetrics) };
  const makeDnsmasq = dnsmasq === 'ours' ? ourDnsmasq : originalDnsmasq;
  return {
    parts: [
      new Part('kubedns', { kind: 'portolan', args, environment }),
      makeDnsmasq(ports, dependencies),
      sidecar(ports, dependencies),
    ],
    ...places('kube-dns', ports),
    missed: {
      kubedns: ['kubedns liveness', 'kubedns readiness'],
      dnsmasq: ['dnsmasq liveness'],
      sidecar: ['kubedns liveness', 'dnsmasq liveness', 'sidecar liveness'],
    },
  };
}

/** Our dnsmasq and our sidecar around a server of others that has the place of kube-dns. @param kubedns its port */
export async function layOutAround(
  kubedns: number,
  dependencies: DnsmasqDependencies,
): Promise<Pick<Layout, 'parts' | 'front' | 'probes'>> {
  const ports = { ...(await findPorts()), kubedns };
  const { front, probes } = places('kube-dns', ports);
  const { 'kubedns readiness': _, ...rest } = probes;
  return { parts: [ourDnsmasq(ports, dependencies), sidecar(ports, dependencies)], front, probes: rest };
}

function ourDnsmasq(ports: Ports, dependencies: DnsmasqDependencies): Part {
  const [command = '', ...words] = makeArguments(
    'kube-dns',
    'dnsmasq',
    ports,
    dependencies,
    onLoopback(ports),
  );
  // It stands behind `--` in the manifests that the options are dnsmasq's; the nanny's come first.
  const args = [command, `-kubednsServer=${HERE}:${ports.kubedns}`, ...words];
  return new Part('dnsmasq', { kind: 'portolan', args });
}

function originalDnsmasq(ports: Ports, dependencies: DnsmasqDependencies): Part {
  const words = makeArguments('kube-dns', 'dnsmasq', ports, dependencies, onLoopback(ports));
  const own = words.slice(words.indexOf('--') + 1);
  const args = [...own, `--server=${dependencies.upstream.replace(':', '#')}`];
  return new Part('dnsmasq', { kind: 'foreign', path: 'dnsmasq', args });
}

function sidecar(ports: Ports, dependencies: DnsmasqDependencies): Part {
  const here = [
    `--dnsmasq-port=${ports.front}`,
    `--prometheus-addr=${HERE}`,
    `--prometheus-port=${ports.sidecar}`,
  ];
  return new Part('sidecar', {
    kind: 'portolan',
    args: makeArguments('kube-dns', 'sidecar', ports, dependencies, here),
  });
}

async function layOutOne(dependencies: Dependencies): Promise<Layout> {
  const ports = await findPorts();
  const here = [
    `--dns-bind-address=${HERE}`,
    `--dns-port=${ports.front}`,
    `--kube-master-url=${dependencies.master}`,
    `--healthz-port=${HERE}:${ports.readiness}`,
    `--sidecar-port=${HERE}:${ports.sidecar}`,
    `--prometheus-port=${HERE}:${ports.kubednsMetrics}`,
  ];
  const args = makeArguments('portolan', 'portolan', ports, dependencies, here);
  const rest = places('portolan', ports);
  return {
    parts: [new Part('portolan', { kind: 'portolan', args })],
    ...rest,
    missed: { portolan: Object.keys(rest.probes) },
  };
}

/** kube-dns's flags and variables name ports alone, which are served on all addresses then. */
async function findPorts(): Promise<Ports> {
  return {
    kubedns: await findFreePort(),
    front: await findFreePort(),
    readiness: await findFreePort('0.0.0.0'),
    kubednsMetrics: await findFreePort('0.0.0.0'),
    sidecar: await findFreePort(),
  };
}

/** The words of a container, and what puts it on loopback. */
function makeArguments(
  folder: LayoutFolder,
  name: string,
  ports: Ports,
  { configFolder }: DnsmasqDependencies,
  here: readonly string[],
): readonly string[] {
  const replaced = readWords(folder, name).map((word) =>
    word
      .replace(/\b10053\b/, String(ports.kubedns))
      .replace(/127\.0\.0\.1:53\b/, `${HERE}:${ports.front}`)
      .replace(/=(\/kube-dns-config|\/etc\/k8s\/dns\/dnsmasq-nanny)$/, `=${configFolder}`)
      .replace('/var/lib/portolan', `${configFolder}-state`)
      // The sidecar queries once a second, not every five: tests wait for what it sees.
      .replace(/^(--probe=.*),5,(\w+)$/, '$1,1,$2'),
  );
  return [...replaced, ...here];
}

function onLoopback({ front }: Ports): readonly string[] {
  return [
    `--port=${front}`,
    `--listen-address=${HERE}`,
    '--bind-interfaces',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--pid-file=',
    '--user=',
    '--group=',
  ];
}

function places(folder: LayoutFolder, ports: Ports): Omit<Layout, 'parts' | 'missed'> {
  const at = (port: number, path: string) => `http://${HERE}:${port}${path}`;
  const replaced: ReadonlyMap<number, number> = new Map([
    [8081, ports.readiness],
    [10_054, ports.sidecar],
  ]);
  // The one container keeps the probes of the three.
  const probes = [...readProbes('kube-dns'), ...readProbes(folder)].map(
    ({ name, path, port }) => [name, at(replaced.get(port) ?? port, path)] as const,
  );
  return {
    front: { address: HERE, port: ports.front },
    probes: Object.fromEntries(probes),
    metrics: {
      kubedns: at(ports.kubednsMetrics, '/metrics'),
      sidecar: at(ports.sidecar, '/metrics'),
      own: at(ports.readiness, '/metrics'),
    },
    cache: at(ports.readiness, '/cache'),
  };
}
