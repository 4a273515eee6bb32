/**
 * Services of type ExternalName: Kubernetes DNS specification, section 2.5. The CNAME is followed only for addresses.
 */
import { isWithin, toKey } from '../../../wire/name.ts';
import { TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import { recordSet } from '../../../zone/record-set.ts';
import { externalTarget } from '../../names/external-target.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { ADDRESS_TYPES } from '../../names/record-sets.ts';
import type { ServiceView } from '../dialect.ts';

/** An external name that is an address has no node, as in CoreDNS. Names below an alias do not exist. */
export function externalNameNode(view: ServiceView, externalName: string): ZoneNode | undefined {
  const target = externalTarget(externalName);
  if (target.kind !== 'name') return undefined;
  // If the target is in the zone, CoreDNS returns the alias only together with an answer.
  const unanswered = isWithin(toKey(target.name), view.domain) ? 'nodata' : 'alias';
  return {
    name: view.name,
    sets: [recordSet(TYPE.CNAME, view.ttl, [{ kind: 'CNAME', target: target.name }])],
    alias: { target: target.name, ttl: view.ttl, types: ADDRESS_TYPES, unanswered },
    below: COMPLETE,
    outcome: OUTCOME.externalName,
  };
}
