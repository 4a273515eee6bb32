/**
 * The value of a key: a record of a service as SkyDNS writes it, in JSON.
 *
 * It is read as SkyDNS and CoreDNS read it, with the rules of Go's package encoding/json: names of fields in any case, of equal ones
 * the last, unknown ones and null passed over; but a number in quotes, or with a fraction, makes the whole value a bad one.
 */
import { ItemFault } from '../../../base/item-fence.ts';

export interface ServiceRecord {
  /** An address or a name; empty: there is none. */
  readonly host: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
  readonly text: string;
  /** Whether it is a mail server too. */
  readonly mail: boolean;
  /** Seconds, 0 to 2^32 - 1; 0: the default. */
  readonly ttl: number;
  /** Labels that are taken away from the left of the name of a target. */
  readonly targetStrip: number;
  readonly group: string;
}

/** Octets of a value. Larger ones are no records: the text of a message has fewer. */
const MAX_VALUE_OCTETS = 128 * 1024;
const TOO_LARGE = `its value has more than ${MAX_VALUE_OCTETS} octets`;

const MAX_TTL = 2 ** 32 - 1;

const EMPTY: ServiceRecord = {
  ...{ host: '', port: 0, priority: 0, weight: 0, text: '', mail: false },
  ...{ ttl: 0, targetStrip: 0, group: '' },
};

type FieldCheck = readonly [field: keyof ServiceRecord, isRight: (value: unknown) => boolean];

/** How each field is checked, by its name in lower case. */
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

/** @returns undefined for a value that is no record */
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
  // Each field was checked when it was set.
  return record as ServiceRecord;
}

/** @returns the value of a record. @throws ItemFault for any other one */
export function checkValue(value: Buffer | 'too-large'): Buffer {
  if (value === 'too-large' || value.length > MAX_VALUE_OCTETS) throw new ItemFault('too-large', TOO_LARGE);
  if (parseServiceRecord(value.toString('utf8')) === undefined)
    throw new ItemFault('malformed', 'its value is no JSON of a record');
  return value;
}

/** @returns undefined for text that is no JSON */
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
