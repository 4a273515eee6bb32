/**
 * Options of the query log that all servers have, beside dnsmasq's `log-queries`. dnsmasq has none of them.
 */
import { type QueryLogPlan, STANDARD_OUTPUT } from '@portolan/server/plan/query-log-plan.ts';
import { QUERY_LOG_FLAGS } from '@portolan/server/settings/query-log/query-log-flags.ts';
import { readQueryLogWords } from '@portolan/server/settings/query-log/read-settings.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { DnsmasqDraft } from './draft.ts';
import type { Findings } from './findings.ts';
import { textOfOctets } from './octets.ts';
import type { Option, OptionUse } from './option.ts';

const FORMAT = 'text';
const NAME = 'query-log';

export const queryLogOptions: readonly Option[] = QUERY_LOG_FLAGS.map((flag): Option => {
  const isFile = flag.name === NAME;
  return {
    name: flag.name,
    takes: isFile ? 'optional' : 'value',
    repeats: 'often',
    shows: isFile ? `[=<${flag.valueName}>]` : `=<${flag.valueName}>`,
    means: `${flag.help.charAt(0).toUpperCase()}${flag.help.slice(1)}`,
    standing: { kind: 'works', apply: (use) => addWord(use, flag.name) },
  };
});

/** As a word of `portolan control query-log on`. */
function addWord(use: OptionUse, name: string): void {
  const setting = name === NAME ? 'file' : name.slice(NAME.length + 1);
  const read = new ValueReader();
  const word = `${setting}=${use.value === undefined ? STANDARD_OUTPUT : textOfOctets(use.value)}`;
  readQueryLogWords(read, [word], FORMAT);
  for (const { fault, remedy } of read.problems) use.refuse(fault, remedy);
  use.draft.queryLog.push(word);
}

/** Undefined: no query log. */
export function finishQueryLog(
  { queryLog: words }: DnsmasqDraft,
  findings: Findings,
): QueryLogPlan | undefined {
  if (words.some((word) => word.startsWith('file=')))
    return readQueryLogWords(new ValueReader(), words, FORMAT);
  const [setting] = words[0]?.split('=') ?? [];
  if (setting !== undefined)
    findings.refuse(
      `--${NAME}-${setting}`,
      `has no effect without --${NAME}`,
      undefined,
      `Leave it out, or give --${NAME}.`,
    );
  return undefined;
}
