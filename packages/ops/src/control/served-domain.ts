/**
 * The domain of the cluster whose names a server answers, or forwards.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';

const DEFAULT_DOMAIN = 'cluster.local.';

interface ServingPart {
  readonly engine: Pick<Engine, 'serverBlocks'>;
  readonly plan: ServerPlan;
}

/** The apex of the cluster's zone. A server without objects, such as a node cache, forwards it: a zone of its blocks. */
export function findServedDomain({ engine, plan }: ServingPart): string {
  const [own] = clustersIn(engine.serverBlocks.inspect());
  if (own !== undefined) return own.cluster.names.apexes[0] ?? DEFAULT_DOMAIN;
  const zones = plan.engine.groups.flatMap(({ sites }) => sites.map(({ zone }) => zone));
  if (zones.includes(DEFAULT_DOMAIN as NameKey)) return DEFAULT_DOMAIN;
  return zones.find((zone) => zone !== '.' && !zone.endsWith('.arpa.')) ?? DEFAULT_DOMAIN;
}
