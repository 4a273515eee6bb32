/**
 * `--domain=#`: the default domain from the first `search` line of the resolv file.
 */
import type { NameKey } from '../../wire/types.ts';
import type { Draft } from './draft.ts';
import { EXIT } from './exit-codes.ts';
import type { Findings } from './findings.ts';
import { readName } from './names.ts';
import { octetsOf } from './octets.ts';
import type { ConfigSources } from './sources.ts';

const WHERE = '--domain=#';

/** @returns the default domain, read from the file or given as it is */
export function resolveDomain(draft: Draft, sources: ConfigSources, findings: Findings): NameKey | undefined {
  if (!draft.hosts.domainFromResolvFile) return draft.hosts.domain;
  const { files, ignored } = draft.resolv;
  const [path] = files;
  if (ignored || path === undefined || files.length > 1) {
    const remedy = 'Name one with --resolv-file, or give the domain itself.';
    findings.refuse(WHERE, 'needs exactly one resolv file', files.join(', '), remedy);
    return undefined;
  }
  const read = sources.readFile(path);
  if (read.kind === 'failed') {
    const remedy = 'Name a file that can be read.';
    findings.refuse(WHERE, `cannot read a file, ${read.reason}`, path, remedy, EXIT.BAD_FILE);
    return undefined;
  }
  const domain = searchDomain(octetsOf(read.bytes));
  if (domain === undefined)
    findings.refuse(WHERE, 'no search line with a domain', path, 'Give the domain itself.', EXIT.OTHER);
  return domain;
}

function searchDomain(text: string): NameKey | undefined {
  for (const line of text.split('\n')) {
    const [keyword, domain] = line.split(/[ \t\r]+/).filter((word) => word !== '');
    if (keyword !== 'search' || domain === undefined) continue;
    const reading = readName(domain);
    if (reading.kind === 'name') return reading.name;
  }
  return undefined;
}
