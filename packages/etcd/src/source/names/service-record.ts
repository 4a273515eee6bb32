/**
 * The value of a key: a record of a service as SkyDNS writes it, in JSON.
 *
 * It is read as in SkyDNS and CoreDNS, with the rules of Go's package encoding/json: field names in any case, the last of equal
 * fields counts, unknown fields and null are skipped. A number in quotes or with a fraction makes the whole value invalid.
 */
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';

export interface ServiceRecord {
  /** An address or a name; may be empty. */
  readonly host: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
  readonly text: string;
  /** Whether it is also a mail server. */
  readonly mail: boolean;
  /** Seconds, 0 to 2^32 - 1; 0: the default. */
  readonly ttl: number;
  /** Labels to remove from the left of a target's name. */
  readonly targetStrip: number;
  readonly group: string;
}

/** Octets of a value. Larger values are not records: a DNS message is smaller. */
const MAX_VALUE_OCTETS = 128 * 1024;
const TOO_LARGE = `its value has more than ${MAX_VALUE_OCTETS} octets`;

const MAX_TTL = 2 ** 32 - 1;

const EMPTY: ServiceRecord = {
  host: '',
  port: 0,
  priority: 0,
  weight: 0,
  text: '',
  mail: false,
  ttl: 0,
  targetStrip: 0,
  group: '',
};

type FieldCheck = readonly [field: keyof ServiceRecord, isRight: (value: unknown) => boolean];

/** The check of each field, by its name in lower case. */
const FIELDS: ReadonlyMap<string, FieldCheck> = new Map<string, FieldCheck>([
  ['host', ['host', isText]],
  ['port', ['port', isInteger]],
  ['priority', ['priority', isInteger]],
  ['weight', ['weight', isInteger]],
  ['text', ['text', isText]],
  ['mail', ['mail', (value) => typeof value === 'boolean']],
  ['ttl', ['ttl', (value) => isInteger(value) && value >= 0 && value <= MAX_TTL]],
  ['targetstrip', ['targetStrip', isInteger]],
  ['group', ['group', isText]],
]);

/** @returns undefined if the value is not a record */
export function parseServiceRecord(value: string): ServiceRecord | undefined {
  const parsed = parseJson(value);
  if (parsed === null) return EMPTY;
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return undefined;
  const record: { -readonly [Field in keyof ServiceRecord]: unknown } = { ...EMPTY };
  for (const [name, content] of Object.entries(parsed)) {
    const field = FIELDS.get(name) ?? FIELDS.get(name.toLowerCase());
    if (field === undefined || content === null) continue;
    const [target, isRight] = field;
    if (!isRight(content)) return undefined;
    record[target] = content;
  }
  // Each field was checked before it was set.
  return record as ServiceRecord;
}

/** @returns the value of a record. @throws ItemFault for any other value */
export function checkValue(value: Buffer | 'too-large'): Buffer {
  if (value === 'too-large' || value.length > MAX_VALUE_OCTETS) throw new ItemFault('too-large', TOO_LARGE);
  if (parseServiceRecord(value.toString('utf8')) === undefined)
    throw new ItemFault('malformed', 'its value is no JSON of a record');
  return value;
}

/** @returns undefined if the text is not JSON */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}
