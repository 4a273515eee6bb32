/**
 * Services of type ExternalName: Kubernetes DNS specification, section 2.5. The CNAME is followed for addresses alone.
 */
import type { Below } from '../../../table/types.ts';
import { isWithin, toKey } from '../../../wire/name.ts';
import { type NameKey, TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import { recordSet } from '../../../zone/record-set.ts';
import { externalTarget } from '../../names/external-target.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { ADDRESS_TYPES } from '../../names/record-sets.ts';
import type { ServiceView } from '../dialect.ts';

/** Two labels below are taken for a port, which is not looked at. */
const ASK_FOR_PORTS: Below = { kind: 'ask', labels: 2 };

/** An external name that is an address has no node, as in CoreDNS. */
export function externalNameNode(view: ServiceView, externalName: string): ZoneNode | undefined {
  const target = externalTarget(externalName);
  if (target.kind !== 'name') return undefined;
  return aliasNode(view, view.name, target.name, ASK_FOR_PORTS);
}

/** `port.protocol` below an ExternalName: the same alias. */
export function externalPortName(
  view: ServiceView,
  externalName: string,
  name: NameKey,
  labels: readonly string[],
): ZoneNode | undefined {
  const target = externalTarget(externalName);
  if (target.kind !== 'name' || labels.length !== 2) return undefined;
  return aliasNode(view, name, target.name, COMPLETE);
}

function aliasNode(view: ServiceView, name: NameKey, target: NameKey, below: Below): ZoneNode {
  // Inside the zone CoreDNS shows an alias only together with an answer.
  const unanswered = isWithin(toKey(target), view.domain) ? 'nodata' : 'alias';
  return {
    name,
    sets: [recordSet(TYPE.CNAME, view.ttl, [{ kind: 'CNAME', target }])],
    alias: { target, ttl: view.ttl, types: ADDRESS_TYPES, unanswered },
    below,
    outcome: OUTCOME.externalName,
  };
}
