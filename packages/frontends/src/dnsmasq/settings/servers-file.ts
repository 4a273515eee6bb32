/**
 * A file of `--servers-file`, which allows only `server` and `rev-server` lines. A wrong line is reported and skipped, because the
 * file can be reread while the server runs.
 */
import { readItem } from '@portolan/kernel/base/item-guard.ts';
import { type FileLine, readConfigFile } from './config-file.ts';
import type { DnsmasqRoute } from './dnsmasq-plan.ts';
import { type DnsmasqDraft, newDraft } from './draft.ts';
import { type DnsmasqProblem, Findings, type Note } from './findings.ts';
import { textOfOctets } from './octets.ts';

export interface ServersFile {
  readonly routes: readonly DnsmasqRoute[];
  readonly problems: readonly DnsmasqProblem[];
  readonly notes: readonly Note[];
}

/** @param file the path, for messages */
export function readServersFile(bytes: Uint8Array, file: string): ServersFile {
  const findings = new Findings();
  const draft = newDraft();
  for (const line of readConfigFile(bytes)) {
    const where = `${file}:${line.line}`;
    const reading = readItem(() => readServersLine(line, where, { draft, findings }));
    if (reading.kind === 'rejected')
      findings.refuse(where, 'cannot be read', reading.problem, 'Write it in another way.');
  }
  return { routes: draft.upstreams.routes, problems: findings.problems, notes: findings.notes };
}

function readServersLine(
  line: FileLine,
  where: string,
  { draft, findings }: { readonly draft: DnsmasqDraft; readonly findings: Findings },
): void {
  if (line.kind === 'wrong') findings.refuse(where, line.fault, line.written, line.remedy);
  else if (!['server', 'rev-server'].includes(line.option.name) || line.option.standing.kind !== 'works')
    findings.refuse(where, 'not allowed in such a file', line.option.name, 'Give server or rev-server.');
  else
    line.option.standing.apply({
      value: line.value,
      draft,
      refuse: (fault, remedy, part = textOfOctets(line.value ?? '')) =>
        findings.refuse(`${where}: ${line.option.name}`, fault, part, remedy),
      note: (text) => findings.note(`${where}: ${line.option.name}`, text),
    });
}
