/**
 * Denials by NSEC records that cover one name each: black lies. A name that does not exist then has no records of the type, so that the
 * response is NOERROR. Sources: plugin/dnssec of CoreDNS 1.14.7; RFC 4470, and for names without records RFC 9824.
 */
import { makeNsec } from '@portolan/dns/dnssec/nsec.ts';
import { parseType } from '@portolan/dns/mnemonics.ts';
import { ROOT, splitLabels, toKey, tryParseKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';

const listTypes = (names: string): readonly number[] => names.split(' ').map((name) => parseType(name) ?? 0);

/** What any name may have besides the type that is denied: CoreDNS does not know what a name has. */
const NAME_TYPES = listTypes('A HINFO TXT AAAA LOC SRV CERT SSHFP RRSIG NSEC TLSA HIP OPENPGPKEY SPF');
const APEX_TYPES = [...NAME_TYPES, ...listTypes('NS SOA MX DNSKEY')];
const DELEGATION_TYPES = [...NAME_TYPES, TYPE.NS];

/** What is denied. `delegation`: the DS records of a delegation. */
export interface DeniedName {
  readonly kind: 'records' | 'delegation';
  readonly name: AbsoluteName;
  readonly type: number;
  readonly zone: NameKey;
  /** Seconds. */
  readonly ttl: number;
}

/** The NSEC record; undefined if the name is so long that none can follow it. */
export function makeDenialRecord(denied: DeniedName): ResourceRecord | undefined {
  const next = findNextName(denied);
  if (next === undefined) return undefined;
  const { name, ttl } = denied;
  return makeNsec({ name, ttl, next, types: findTypes(denied) });
}

/** In lower case, so that one signature is for all letters of a question. */
function findNextName({ kind, name, zone }: DeniedName): NameKey | undefined {
  const key = toKey(name);
  if (kind === 'records' || key === zone) return tryParseKey(`\\000.${key === ROOT ? '' : key}`);
  // Behind the name itself, but before those below it: these belong to another zone.
  const [first = '', ...others] = splitLabels(key);
  return tryParseKey(`${[`${first}\\000`, ...others].join('.')}.`);
}

function findTypes({ kind, name, type, zone }: DeniedName): readonly number[] {
  // A name without DS records is a delegation, as far as is known.
  const types =
    toKey(name) === zone
      ? APEX_TYPES
      : kind === 'delegation' || type === TYPE.DS
        ? DELEGATION_TYPES
        : NAME_TYPES;
  return kind === 'delegation' || type === TYPE.NSEC || types === DELEGATION_TYPES
    ? types
    : types.filter((each) => each !== type);
}
