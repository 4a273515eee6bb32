/**
 * The listen addresses of a plan.
 */
import type { ServerPlan } from '../config/server/server-plan.ts';

/** `address:port` each; without those that are known only when the server listens. */
export function endpointsOf({ listen }: ServerPlan): readonly string[] {
  if (listen.interfaces !== undefined) return [];
  return listen.groups.flatMap(({ addresses, address, port }) =>
    port === 0 ? [] : [addresses ?? address].flat().map((each) => `${each}:${port}`),
  );
}
