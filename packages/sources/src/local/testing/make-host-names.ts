/**
 * Makes names of hosts files for tests from lines of text.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { encodeName, parseName, toKey } from '@portolan/dns/name.ts';
import type { HostNames } from '@portolan/kernel/records/hosts/host-names.ts';
import { HOST_RULES, makeUnseenNames } from '@portolan/kernel/records/hosts/testing/make-unseen-names.ts';
import type { LocalPublication } from '../local-publication.ts';

/**
 * @param lines names and their addresses, in the order of the file
 * @param publication that is to show them. Default: one of a table of their own
 */
export function makeHostNames(
  lines: Iterable<readonly [string, string]>,
  publication?: LocalPublication,
): HostNames {
  const names = publication?.makeHostNames(HOST_RULES) ?? makeUnseenNames();
  const origin = names.addOrigin({ ttl: 5, file: undefined });
  for (const [name, text] of lines) {
    const address = parseAddress(text);
    if (address !== undefined) names.add(encodeName(toKey(parseName(name))), address, origin);
  }
  return names;
}
