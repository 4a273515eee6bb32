/**
 * The ports of a case, each under its placeholder in the case.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';

const PORT_NAMES = [
  'PORT',
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

export async function findCasePorts(): Promise<CasePorts> {
  const ports = new Map<string, number>();
  for (const name of PORT_NAMES) ports.set(name, await findFreePort('::'));
  return ports;
}
