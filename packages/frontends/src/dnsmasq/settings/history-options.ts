/**
 * Options of the history that all servers have. dnsmasq has none of them.
 */
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { HISTORY_FLAGS } from '@portolan/server/settings/history/history-flags.ts';
import { readHistory } from '@portolan/server/settings/history/read-history.ts';
import type { DnsmasqDraft } from './draft.ts';
import type { Findings } from './findings.ts';
import { textOfOctets } from './octets.ts';
import { type Option, single } from './option.ts';

export const historyOptions: readonly Option[] = HISTORY_FLAGS.map(({ name, valueName, help }) =>
  single(
    name,
    { shows: `=<${valueName}>`, means: `${help.charAt(0).toUpperCase()}${help.slice(1)}` },
    ({ draft }, value) => {
      draft.history[name] = textOfOctets(value);
    },
  ),
);

/** Undefined: nothing is remembered. */
export function finishHistory({ history }: DnsmasqDraft, findings: Findings): HistoryPlan | undefined {
  const given = new Map<string, string | undefined>(Object.entries(history));
  const read = new FlagReader(HISTORY_FLAGS, (name) => {
    const value = given.get(name);
    return value === undefined ? [] : [value];
  });
  const plan = readHistory(read);
  for (const { where, fault, value, remedy } of read.problems) findings.refuse(where, fault, value, remedy);
  return plan;
}
