/**
 * Servers that answer by a Corefile: ours, and CoreDNS if `COREDNS` names its binary. Their logs are discarded.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess } from '../child-process.ts';
import type { Place } from '../cores.ts';
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

/** A program that takes a Corefile. */
export interface CorefileProgram {
  readonly name: string;
  readonly command: readonly [program: string, ...words: string[]];
}

export function findPortolan({ root }: Workplace): CorefileProgram {
  const program = join(root, 'dist', 'portolan.js');
  return { name: 'Portolan', command: [process.execPath, program, 'coredns'] };
}

/** @param binary of CoreDNS */
export function findCoreDns(binary: string): CorefileProgram {
  return { name: 'CoreDNS', command: [binary] };
}

/** @param path of the Corefile */
export function runByCorefile(
  { name, command }: CorefileProgram,
  path: string,
  place?: Place,
): Promise<ServerProcess> {
  const words = [...command, '-conf', path];
  return ServerProcess.start(name, 'sh', ['-c', 'exec "$@" >/dev/null', 'sh', ...words], place);
}

export function startPortolanCorefile(workplace: Workplace, wishes: CorefileWishes): Promise<DnsServer> {
  return start(workplace, findPortolan(workplace), wishes);
}

/** @param binary of CoreDNS */
export function startCoreDns(
  workplace: Workplace,
  binary: string,
  wishes: CorefileWishes,
): Promise<DnsServer> {
  return start(workplace, findCoreDns(binary), wishes);
}

async function start(
  { folder }: Workplace,
  program: CorefileProgram,
  { corefile, probe }: CorefileWishes,
): Promise<DnsServer> {
  const port = await findFreePort();
  const metricsPort = await findFreePort();
  const path = join(folder, `Corefile-${port}`);
  await writeFile(path, corefile(port, metricsPort));
  const server = await runByCorefile(program, path);
  try {
    await waitUntilAnswers(server, port, probe);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { name: program.name, process: server, port };
}
