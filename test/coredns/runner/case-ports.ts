/**
 * The ports of a case, each under its placeholder in the case.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';

const PORT_NAMES = [
  'PORT2',
  'PORT3',
  'HEALTH',
  'READY',
  'METRICS',
  'HTTP',
  'UP1',
  'UP2',
  'UP3',
  'UP4',
  'UP5',
  'UP6',
] as const;

export type CasePorts = ReadonlyMap<string, number>;

/** Of programs that may not listen on them just now. */
const programPorts = new Set<number>();

/** @param programPort the one of a program that runs. Default: another, for a program that starts */
export async function findCasePorts(programPort?: number): Promise<CasePorts> {
  const ports = new Map<string, number>();
  for (const name of PORT_NAMES) ports.set(name, await findPort());
  const port = programPort ?? (await findPort());
  programPorts.add(port);
  return ports.set('PORT', port);
}

async function findPort(): Promise<number> {
  for (;;) {
    const port = await findFreePort('::');
    if (!programPorts.has(port)) return port;
  }
}
