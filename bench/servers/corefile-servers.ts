/**
 * Servers that answer by a Corefile: ours, and CoreDNS if `COREDNS` names its binary. Their logs are discarded.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import { findFreePort } from '../free-port.ts';
import type { Workplace } from '../workplace.ts';
import { type DnsServer, waitUntilAnswers } from './server.ts';

/** @param port that it listens at, and another one for metrics */
export type WriteCorefile = (port: number, metricsPort: number) => string;

export interface CorefileWishes {
  readonly corefile: WriteCorefile;
  /** A name with an address. */
  readonly probe: string;
}

export function startPortolanCorefile(workplace: Workplace, wishes: CorefileWishes): Promise<DnsServer> {
  const program = join(workplace.root, 'dist', 'portolan.js');
  return start(workplace, 'Portolan', [process.execPath, program, 'coredns'], wishes);
}

/** @param binary of CoreDNS */
export function startCoreDns(
  workplace: Workplace,
  binary: string,
  wishes: CorefileWishes,
): Promise<DnsServer> {
  return start(workplace, 'CoreDNS', [binary], wishes);
}

async function start(
  { folder }: Workplace,
  name: string,
  command: readonly string[],
  { corefile, probe }: CorefileWishes,
): Promise<DnsServer> {
  const port = await findFreePort();
  const metricsPort = await findFreePort();
  const path = join(folder, `Corefile-${port}`);
  await writeFile(path, corefile(port, metricsPort));
  const words = [...command, '-conf', path];
  const server = await ServerProcess.start(name, 'sh', ['-c', 'exec "$@" >/dev/null', 'sh', ...words]);
  try {
    await waitUntilAnswers(server, port, probe);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { name, process: server, port };
}
