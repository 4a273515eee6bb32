/**
 * Makes names of hosts files for tests from lines of text.
 */
import { parseAddress } from '../../../wire/address.ts';
import { encodeName, parseName, toKey } from '../../../wire/name.ts';
import { HostNames } from '../host-names.ts';

/** @param lines names and their addresses, in the order of the file */
export function makeHostNames(lines: Iterable<readonly [string, string]>): HostNames {
  const names = new HostNames();
  const origin = names.addOrigin({ ttl: 5, file: undefined });
  for (const [name, text] of lines) {
    const address = parseAddress(text);
    if (address !== undefined) names.add(encodeName(toKey(parseName(name))), address, origin);
  }
  return names;
}
