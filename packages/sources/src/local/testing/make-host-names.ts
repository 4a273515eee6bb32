/**
 * Makes names of hosts files for tests from lines of text.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { encodeName, parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { HostNames } from '@portolan/kernel/records/hosts/host-names.ts';
import { DEFAULT_PUBLICATION } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { LocalPublication } from '../local-publication.ts';

const RULES = { outcome: 0, answersBoth: false, leadsTo: 'first', keepsRepeated: false } as const;

/**
 * @param lines names and their addresses, in the order of the file
 * @param publication that is to show them. Default: one of a table of their own
 */
export function makeHostNames(
  lines: Iterable<readonly [string, string]>,
  publication?: LocalPublication,
): HostNames {
  const names = publication?.makeHostNames(RULES) ?? makeUnseenNames();
  const origin = names.addOrigin({ ttl: 5, file: undefined });
  for (const [name, text] of lines) {
    const address = parseAddress(text);
    if (address !== undefined) names.add(encodeName(toKey(parseName(name))), address, origin);
  }
  return names;
}

/** Names that no reader sees. */
export function makeUnseenNames(expected = 0): HostNames {
  const table = new TableWriter({ readers: 0, reservation: 2 ** 26, seed: 4711 });
  const zone = table.defineZone({
    apex: encodeName(ROOT),
    known: true,
    soaData: new Uint8Array(22),
    negativeTtl: 0,
    authoritativeNxdomain: false,
    askWildcards: false,
  });
  return new HostNames(table.recordsOf(DEFAULT_PUBLICATION), { ...RULES, zone }, expected);
}
