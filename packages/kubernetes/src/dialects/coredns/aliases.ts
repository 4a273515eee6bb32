/**
 * Names that are aliases: of external names, and of endpoints that are names. A CNAME is followed only for addresses.
 */
import { isWithin, toKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { Alias } from '@portolan/kernel/zone/node.ts';
import { type RecordSet, recordSet } from '@portolan/kernel/zone/record-set.ts';
import type { NamedTarget } from '../../names/endpoint-targets.ts';
import { ADDRESS_TYPES, addressSets } from '../../names/record-sets.ts';
import type { ServiceView } from '../dialect.ts';

/** The sets and the alias of a node. */
interface NodeContents {
  readonly sets: readonly RecordSet[];
  readonly alias: Alias | undefined;
}

export function aliasTo(target: AbsoluteName, { ttl, domain }: AliasOptions): NodeContents {
  // If the target is in the zone, CoreDNS returns the alias only together with an answer.
  const unanswered = isWithin(toKey(target), domain) ? 'nodata' : 'alias';
  return {
    sets: [recordSet(TYPE.CNAME, ttl, [{ kind: 'CNAME', target }])],
    alias: { target, ttl, types: ADDRESS_TYPES, unanswered },
  };
}

/**
 * A name with several addresses and targets: a CNAME is possible only alone, and only one (RFC 2181 section 10.1), so addresses come
 * first, then the first target. CoreDNS gives all of them at one name.
 */
export function addressesOrAlias(
  addresses: readonly string[],
  [first]: readonly NamedTarget[],
  options: AliasOptions,
): NodeContents {
  return first === undefined || addresses.length > 0
    ? { sets: addressSets(addresses, options.ttl), alias: undefined }
    : aliasTo(first.target, options);
}

type AliasOptions = Pick<ServiceView, 'ttl'> & { readonly domain: NameKey };
