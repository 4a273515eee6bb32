/**
 * How many reader threads a plan needs: those that all listener groups share, and those of groups with `multisocket`.
 */
import { MAX_READERS } from '@portolan/kernel/table/writer.ts';
import type { ServerPlan } from './server-plan.ts';

/** The maximum number of reader threads at any time: the shared ones and those dedicated to groups. */
export function countReaders(plan: ServerPlan): number {
  const { spareReaders = 0 } = plan;
  return Math.min(MAX_GROUP_READERS, countCommonReaders(plan) + countOwnReaders(plan) + spareReaders);
}

/** The maximum of shared readers; groups with `multisocket` get their readers first. */
export function countCommonReaders(plan: ServerPlan): number {
  const { udpReaders } = plan;
  return Math.max(Math.min(udpReaders, 1), Math.min(udpReaders, MAX_GROUP_READERS - countOwnReaders(plan)));
}

function countOwnReaders(plan: ServerPlan): number {
  return plan.listen.groups.reduce((sum, { readers }) => sum + (readers > 1 ? readers : 0), 0);
}

const MAX_GROUP_READERS = MAX_READERS - 1;
