/**
 * The value of a key: a record of a service as SkyDNS writes it, in JSON.
 *
 * It is read as SkyDNS and CoreDNS read it, with the rules of Go's package encoding/json: names of fields in any case, of equal ones
 * the last, unknown ones and null passed over; but a number in quotes, or with a fraction, makes the whole value a bad one.
 */

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
export const TOO_LARGE = `more than ${MAX_VALUE_OCTETS} octets`;

const MAX_TTL = 2 ** 32 - 1;

const EMPTY: ServiceRecord = {
  ...{ host: '', port: 0, priority: 0, weight: 0, text: '', mail: false },
  ...{ ttl: 0, targetStrip: 0, group: '' },
};

/** How each field is checked, by its name in lower case. */
const FIELDS: Readonly<Record<string, readonly [keyof ServiceRecord, (value: unknown) => boolean]>> = {
  host: ['host', isText],
  port: ['port', isInteger],
  priority: ['priority', isInteger],
  weight: ['weight', isInteger],
  text: ['text', isText],
  mail: ['mail', (value) => typeof value === 'boolean'],
  ttl: ['ttl', (value) => isInteger(value) && value >= 0 && value <= MAX_TTL],
  targetstrip: ['targetStrip', isInteger],
  group: ['group', isText],
};

/** @returns undefined for a value that is no record */
export function parseServiceRecord(value: string): ServiceRecord | undefined {
  const parsed = parseJson(value);
  if (parsed === null) return EMPTY;
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return undefined;
  const record: { -readonly [Field in keyof ServiceRecord]: unknown } = { ...EMPTY };
  for (const name in parsed) {
    const content = (parsed as Readonly<Record<string, unknown>>)[name];
    const field = FIELDS[name] ?? FIELDS[name.toLowerCase()];
    if (field === undefined || content === null) continue;
    const [target, isRight] = field;
    if (!isRight(content)) return undefined;
    record[target] = content;
  }
  // Each field was checked when it was set.
  return record as ServiceRecord;
}

/** Why a value is no record; undefined for one that is. */
export function faultOfValue(value: Buffer): string | undefined {
  if (value.length > MAX_VALUE_OCTETS) return TOO_LARGE;
  return parseServiceRecord(value.toString('utf8')) === undefined ? 'no JSON of a record' : undefined;
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
