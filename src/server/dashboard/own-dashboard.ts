/**
 * The dashboard that a server shows of itself, in its own process: it asks itself what others ask over the control socket.
 */
import { hostname } from 'node:os';
import type { OwnDashboardPlan } from '../../config/plan.ts';
import type { CarryOut } from '../../observe/control/control-socket.ts';
import { Dashboard, type DashboardSettings } from './dashboard.ts';
import type { Replica } from './replica.ts';

export interface OwnDashboardSettings
  extends Pick<DashboardSettings, 'folder' | 'clock' | 'log' | 'waitsForPort'> {
  readonly plan: OwnDashboardPlan;
  /** What the control socket answers. */
  readonly carryOut: CarryOut;
}

/** @throws Error if the build lacks the files of the page */
export function createOwnDashboard({ plan, carryOut, ...settings }: OwnDashboardSettings): Dashboard {
  const replica = ownReplica(hostname(), carryOut);
  const find = async () => [replica];
  return new Dashboard({ ...plan, ...settings, flag: '--dashboard', find });
}

/** A server in this process. */
export function ownReplica(name: string, carryOut: CarryOut): Replica {
  return { name, ask: carryOut };
}
