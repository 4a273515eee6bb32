/**
 * A zone's authority: its apex, its SOA record, and how it denies names.
 */
import { encodeName } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import type { ZoneSettings } from '../table/types.ts';

export type StartOfAuthority = Extract<RecordData, { kind: 'SOA' }>;

export interface Zone {
  readonly apex: NameKey;
  readonly soa: StartOfAuthority;
  /** Seconds: the TTL of the SOA record in negative answers (RFC 2308 section 3). */
  readonly negativeTtl: number;
  /** Whether NXDOMAIN carries the AA bit. */
  readonly authoritativeNxdomain: boolean;
}

/** The SOA record that negative answers carry in their authority section. */
export function negativeSoa(zone: Zone): ResourceRecord {
  return { name: zone.apex, class: CLASS.IN, ttl: zone.negativeTtl, data: zone.soa };
}

/** The table's settings beyond the zone itself. */
export interface ZoneState {
  /** Whether all data of the zone is known. */
  readonly known: boolean;
  /** Whether missing names with a label `*` go to the handler chain. */
  readonly askWildcards: boolean;
  /** How to answer questions for ANY. Default: ask the chain. */
  readonly any?: ZoneSettings['any'];
}

/** The zone's settings for the table. */
export function toZoneSettings(zone: Zone, state: ZoneState): ZoneSettings {
  return {
    apex: encodeName(zone.apex),
    known: state.known,
    soaData: encodeSoa(zone.soa),
    negativeTtl: zone.negativeTtl,
    authoritativeNxdomain: zone.authoritativeNxdomain,
    askWildcards: state.askWildcards,
    any: state.any ?? 'ask',
  };
}

function encodeSoa(soa: StartOfAuthority): Uint8Array {
  const primary = encodeName(soa.primary);
  const mailbox = encodeName(soa.mailbox);
  const data = new Uint8Array(primary.length + mailbox.length + 20);
  data.set(primary, 0);
  data.set(mailbox, primary.length);
  const numbers = new DataView(data.buffer, primary.length + mailbox.length);
  for (const [index, value] of [soa.serial, soa.refresh, soa.retry, soa.expire, soa.minimum].entries())
    numbers.setUint32(index * 4, value);
  return data;
}
