/**
 * The dashboard that a server shows of itself, in its own process: it asks itself what others ask over the control socket.
 */
import { hostname } from 'node:os';
import type { CarryOut } from '../../observe/control/control-socket.ts';
import { Dashboard, type DashboardSettings } from './dashboard.ts';

export interface OwnDashboardSettings extends Omit<DashboardSettings, 'find' | 'flag'> {
  readonly carryOut: CarryOut;
}

/** @throws Error if the build lacks the files of the page */
export function createOwnDashboard({ carryOut, ...settings }: OwnDashboardSettings): Dashboard {
  const replica = { name: hostname(), ask: carryOut };
  return new Dashboard({ ...settings, flag: '--dashboard', find: async () => [replica] });
}
