/**
 * Our own server as built in `dist/`, with objects from an API server.
 */
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import type { Place } from '../cores.ts';
import { findFreePort } from '../free-port.ts';
import { machineTime } from '../machine.ts';
import type { Workplace } from '../workplace.ts';
import type { DnsServer } from './server.ts';

export interface Portolan extends DnsServer {
  /** When `/readyz` first said so, by the machine's clock. */
  readonly readyAt: number;
  /** What `/metrics` says. */
  metrics(): Promise<string>;
  /** Makes it collect its garbage, by `collect-on-signal.ts`. */
  collectGarbage(): void;
}

const PATIENCE_MILLISECONDS = 60_000;
const POLL_MILLISECONDS = 10;

/** A way to run it: its name in tables, and further flags. */
export interface Variant {
  readonly name: string;
  readonly flags: readonly string[];
  /** Threads that answer UDP; 1 unless given. */
  readonly readers?: number;
}

const PLAIN: Variant = { name: 'Portolan', flags: [] };

/** Starts it, and does not wait for its first answer. Nothing is loaded that only measurements need. */
export async function beginPortolan(
  { root }: Workplace,
  kubeconfig: string,
  place?: Place,
  variant: Variant = PLAIN,
): Promise<DnsServer> {
  const port = await findFreePort();
  const flags = [...(await flagsFor(kubeconfig, port, variant)), ...variant.flags];
  const args = [join(root, 'dist', 'portolan.js'), ...flags];
  const process_ = await ServerProcess.start(variant.name, process.execPath, args, place);
  return { name: variant.name, process: process_, port };
}

/** @throws ServerStartError where it ends or is not ready in time */
export async function startPortolan(
  { root, folder }: Workplace,
  kubeconfig: string,
  place?: Place,
  variant: Variant = PLAIN,
): Promise<Portolan> {
  const port = await findFreePort();
  const healthPort = await findFreePort();
  const args = [
    '--import',
    join(folder, 'collect-on-signal.mjs'),
    join(root, 'dist', 'portolan.js'),
    ...(await flagsFor(kubeconfig, port, variant, healthPort)),
    ...variant.flags,
  ];
  const process_ = await ServerProcess.start(variant.name, process.execPath, args, place);
  const fetchText = async (path: string) => fetch(`http://127.0.0.1:${healthPort}${path}`);
  const isReady = async () => {
    const response = await fetchText('/readyz').catch(() => undefined);
    // A connection is used again once its response is read: the server bounds how many a client may have.
    await response?.text();
    return response?.ok === true;
  };
  await process_.waitUntil(isReady, PATIENCE_MILLISECONDS, POLL_MILLISECONDS);
  return {
    name: variant.name,
    process: process_,
    port,
    readyAt: machineTime(),
    metrics: async () => (await fetchText('/metrics')).text(),
    collectGarbage: () => process_.signal('SIGUSR2'),
  };
}

async function flagsFor(
  kubeconfig: string,
  port: number,
  { readers = 1 }: Variant,
  healthPort?: number,
): Promise<readonly string[]> {
  const health = healthPort ?? (await findFreePort());
  return [
    'serve',
    `--kubecfg-file=${kubeconfig}`,
    '--dns-bind-address=127.0.0.1',
    `--dns-port=${port}`,
    `--healthz-port=127.0.0.1:${health}`,
    `--udp-readers=${readers}`,
    '--lameduck=0s',
    '--log-level=warn',
  ];
}
