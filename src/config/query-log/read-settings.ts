/**
 * Reads the settings of a query log from flags or from orders on the control socket.
 */
import { parseAddress } from '../../wire/address.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import { rcodeName } from '../../wire/mnemonics.ts';
import { LOG_FORMATS } from '../plan.ts';
import type { QueryLogSettings } from '../server/query-log-plan.ts';
import type { ValueReader } from '../values/value-reader.ts';

export interface QueryLogTexts {
  readonly format: string | undefined;
  readonly sample: string | undefined;
  readonly zones: readonly string[];
  readonly rcodes: readonly string[];
  readonly clients: readonly string[];
}

const SAMPLES = { min: 1, max: 1_000_000, of: 'a number of queries' };
/** The response codes of the header, which have four bits. */
const RCODES: readonly string[] = Array.from({ length: 16 }, (_, rcode) => rcodeName(rcode));

/** @param where maps the short name of a setting (`zone`) to its name in messages */
export function readQueryLogSettings(
  read: ValueReader,
  texts: QueryLogTexts,
  where: (name: string) => string,
): QueryLogSettings {
  return {
    format: read.choice(where('format'), texts.format, LOG_FORMATS, 'text'),
    sample: read.integer(where('sample'), texts.sample, SAMPLES, 1),
    zones: texts.zones.map((text) => read.zone(where('zone'), text, 'cluster.local.')),
    rcodes: texts.rcodes.map((text) => readRcode(read, where('rcode'), text)),
    clients: texts.clients
      .map((text) => readPrefix(read, where('client'), text))
      .filter((range) => range !== undefined),
  };
}

function readRcode(read: ValueReader, where: string, text: string): number {
  const rcode = RCODES.indexOf(text.toUpperCase());
  if (rcode < 0)
    read.addProblem(where, 'not a response code', text, 'Give one such as NXDOMAIN or SERVFAIL.');
  return Math.max(0, rcode);
}

function readPrefix(read: ValueReader, where: string, text: string): AddressRange | undefined {
  const [address = '', bits] = text.split('/', 2);
  const octets = parseAddress(address);
  const max = (octets?.length ?? 0) * 8;
  const prefix = bits === undefined ? max : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (octets !== undefined && prefix <= max) return { address, prefix };
  read.addProblem(where, 'not an address prefix', text, 'Give one such as 10.244.1.0/24 or 2001:db8::/64.');
  return undefined;
}
