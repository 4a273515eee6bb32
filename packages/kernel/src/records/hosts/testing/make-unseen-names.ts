/**
 * Names of hosts files for tests, in a table of their own.
 */
import { encodeName, ROOT } from '@portolan/dns/name.ts';
import { DEFAULT_PUBLICATION } from '../../../table/types.ts';
import { TableWriter } from '../../../table/writer.ts';
import { HostNames } from '../host-names.ts';

export const HOST_RULES = { outcome: 0, answersBoth: false, leadsTo: 'first', keepsRepeated: false } as const;

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
  return new HostNames(table.openRecordSpace(DEFAULT_PUBLICATION), { ...HOST_RULES, zone }, expected);
}
