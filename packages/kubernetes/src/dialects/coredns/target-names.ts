/**
 * The names of endpoints that are names themselves: aliases. CoreDNS makes the label of one without a hostname from the target, with
 * dashes, and has no SRV records for them.
 */
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { groupByLabel } from '../../names/label-groups.ts';
import { nameBelow } from '../../names/labels.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import type { ServiceView } from '../dialect.ts';
import { addressesOrAlias } from './aliases.ts';

export function targetNodes(view: ServiceView): readonly ZoneNode[] {
  return groupByLabel(view.targets, ({ label }) => label).flatMap(({ label, endpoints }) => {
    const name = nameBelow(label, view.name);
    if (name === undefined) return [];
    const contents = addressesOrAlias([], endpoints, view);
    return [{ name, ...contents, below: COMPLETE, outcome: OUTCOME.endpoint }];
  });
}
