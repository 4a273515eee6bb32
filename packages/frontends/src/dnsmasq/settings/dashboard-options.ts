/**
 * Options of the dashboard that all servers have. dnsmasq has none of them.
 */
import { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import {
  OWN_DASHBOARD_FLAGS,
  type OwnDashboardPlan,
  readOwnDashboard,
} from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import type { DnsmasqDraft } from './draft.ts';
import type { Findings } from './findings.ts';
import { textOfOctets } from './octets.ts';
import { type Option, repeatable } from './option.ts';

export const dashboardOptions: readonly Option[] = OWN_DASHBOARD_FLAGS.map(({ name, valueName, help }) =>
  repeatable(
    name,
    { shows: `=<${valueName}>`, means: `${help.charAt(0).toUpperCase()}${help.slice(1)}` },
    ({ draft }, value) => void draft.dashboard[name].push(textOfOctets(value)),
  ),
);

/** Undefined: no dashboard. */
export function finishDashboard(
  { dashboard }: DnsmasqDraft,
  findings: Findings,
): OwnDashboardPlan | undefined {
  const given = new Map<string, readonly string[]>(Object.entries(dashboard));
  const read = new FlagReader(OWN_DASHBOARD_FLAGS, (name) => given.get(name) ?? []);
  const plan = readOwnDashboard(read);
  for (const { where, fault, value, remedy } of read.problems) findings.refuse(where, fault, value, remedy);
  return plan;
}
