/**
 * The domain and the namespaces of the cluster whose names a server answers, or forwards.
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

/** Whether a label is a namespace. A server without objects cannot tell: there any label may be one. */
export function findNamespaceTest({ engine }: Pick<ServingPart, 'engine'>): (label: string) => boolean {
  const clusters = clustersIn(engine.serverBlocks.inspect());
  if (clusters.length === 0) return () => true;
  return (label) => clusters.some(({ cluster }) => cluster.contents.hasNamespace(label));
}
