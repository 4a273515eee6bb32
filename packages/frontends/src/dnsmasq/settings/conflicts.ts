/**
 * Conflicts between options that are valid by themselves.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { DnsmasqDraft } from './draft.ts';
import type { Findings } from './findings.ts';

/** Also run by `--test`. */
export function findConflicts(draft: DnsmasqDraft, findings: Findings): void {
  for (const alias of cnameLoops(draft.records.cnames))
    findings.refuse('--cname', 'a loop of CNAME records', alias, 'Let one of its targets be another name.');
  const { resolv, upstreams } = draft;
  if (!resolv.ignored && resolv.files.length > 1 && !upstreams.followsResolvFiles)
    findings.refuse(
      '--no-poll',
      'given with several resolv files',
      resolv.files.join(', '),
      'Keep one file: which one counts is known only by following them.',
    );
}

/** The first given alias of each loop. */
function cnameLoops(
  cnames: readonly { readonly alias: NameKey; readonly target: NameKey }[],
): readonly NameKey[] {
  const targets = new Map(cnames.map(({ alias, target }) => [alias, target]));
  const settled = new Set<NameKey>();
  const loops: NameKey[] = [];
  for (const { alias } of cnames) {
    const path = new Set<NameKey>();
    let at: NameKey | undefined = alias;
    while (at !== undefined && !settled.has(at) && !path.has(at)) {
      path.add(at);
      at = targets.get(at);
    }
    if (at !== undefined && path.has(at)) loops.push(at);
    for (const name of path) settled.add(name);
  }
  return loops;
}

/** Conflicts that dnsmasq reports only at start, not with `--test`. */
export function findStartConflicts({ ports, upstreams, listen }: DnsmasqDraft, findings: Findings): void {
  const min = ports.min || (ports.max === 0 ? 0 : 1024);
  const max = ports.max || (ports.min === 0 ? 0 : 65_535);
  if (max < min)
    findings.refuse(
      '--max-port',
      'below the minimum port',
      `${max} < ${min}`,
      'Let --min-port be the smaller one.',
    );
  else if (max !== 0 && max - min + 1 < upstreams.portLimit)
    findings.refuse(
      '--port-limit',
      'more than there are ports',
      String(upstreams.portLimit),
      'Give fewer, or more ports.',
    );
  if (listen.bindsInterfaces && listen.bindsDynamic)
    findings.refuse('--bind-dynamic', 'given with --bind-interfaces', undefined, 'Keep one of the two.');
}
