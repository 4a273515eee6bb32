/**
 * Names that select the endpoints of a headless service by topology zone, as `zonal` of CoreDNS has them:
 * `ZONE.pin._zone.SERVICE.NAMESPACE.svc`, and `prefer` instead of `pin`. Without an endpoint in the zone, `pin` has no
 * records, and `prefer` those of all endpoints.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import type { ServiceView } from '../dialect.ts';
import { deriveHeadless } from './headless.ts';

/** The last label of such names, left of the service's. */
export const ZONE_LABEL = '_zone';
/** Labels left of the service: a zone of one or more, the directive, and `_zone`. */
const MIN_LABELS = 3;

/**
 * @param labels those left of the service's name
 * @param addressesIn the addresses of the service in a zone
 */
export function zonalNode(
  view: ServiceView,
  name: NameKey,
  labels: readonly string[],
  addressesIn: (zone: string) => ReadonlySet<string>,
): ZoneNode | undefined {
  const directive = labels.at(-2);
  if (labels.length < MIN_LABELS || labels.at(-1) !== ZONE_LABEL) return undefined;
  if (view.service.address.kind !== 'headless' || (directive !== 'pin' && directive !== 'prefer'))
    return undefined;
  // The name of a zone may have dots.
  const addresses = addressesIn(labels.slice(0, -2).join('.'));
  const local = view.endpoints.filter(({ address }) => addresses.has(address));
  const endpoints = local.length === 0 && directive === 'prefer' ? view.endpoints : local;
  const [node] = deriveHeadless({ ...view, endpoints }).nodes;
  return { name, sets: node?.sets ?? [], alias: undefined, below: COMPLETE, outcome: OUTCOME.headless };
}
