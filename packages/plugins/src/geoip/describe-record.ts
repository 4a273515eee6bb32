/**
 * What the records of a database say, under CoreDNS's labels.
 */
import type { GeoSchema } from './database.ts';

/** Texts by label, without the name of the plugin: `city/name`. */
export type GeoFacts = ReadonlyMap<string, string>;

/** A record, or a part of one. */
type RecordFields = ReadonlyMap<string, unknown>;

/**
 * @param record null: the address has none. Then all labels are empty, but those of truth values and numbers
 * @throws TypeError if a field is not what the schema says
 */
export function describeRecord(schema: GeoSchema, record: unknown): GeoFacts {
  const fields = readFields(record, schema);
  return new Map(schema === 'asn' ? listAsn(fields) : listCity(fields));
}

function listAsn(fields: RecordFields): (readonly [string, string])[] {
  return [
    ['asn/number', String(readInteger(fields, 'autonomous_system_number'))],
    ['asn/org', readText(fields, 'autonomous_system_organization')],
  ];
}

function listCity(fields: RecordFields): (readonly [string, string])[] {
  const part = (name: string) => readFields(fields.get(name), name);
  const readName = (of: RecordFields) => readText(readFields(of.get('names'), 'names'), 'en');
  const country = part('country');
  const continent = part('continent');
  const location = part('location');
  return [
    ['city/name', readName(part('city'))],
    ['country/name', readName(country)],
    ['continent/name', readName(continent)],
    ['country/code', readText(country, 'iso_code')],
    ['subdivisions/code', readList(fields, 'subdivisions').map(readCode).join()],
    ['country/is_in_european_union', String(readTruth(country, 'is_in_european_union'))],
    ['continent/code', readText(continent, 'code')],
    ['latitude', readCoordinate(location, 'latitude')],
    ['longitude', readCoordinate(location, 'longitude')],
    ['timezone', readText(location, 'time_zone')],
    ['postalcode', readText(part('postal'), 'code')],
  ];
}

function readCode(subdivision: unknown): string {
  return readText(readFields(subdivision, 'subdivision'), 'iso_code');
}

function readFields(value: unknown, name: string): RecordFields {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong(name);
  return new Map(Object.entries(value));
}

function readText(fields: RecordFields, name: string): string {
  const value = fields.get(name) ?? '';
  if (typeof value !== 'string') throw wrong(name);
  return value;
}

function readInteger(fields: RecordFields, name: string): number | bigint {
  const value = fields.get(name) ?? 0;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value as number | bigint;
  throw wrong(name);
}

function readTruth(fields: RecordFields, name: string): boolean {
  const value = fields.get(name) ?? false;
  if (typeof value !== 'boolean') throw wrong(name);
  return value;
}

function readList(fields: RecordFields, name: string): readonly unknown[] {
  const value = fields.get(name) ?? [];
  if (!Array.isArray(value)) throw wrong(name);
  return value;
}

/** Empty if it is unknown: 0 is a place. */
function readCoordinate(fields: RecordFields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) return '';
  if (typeof value !== 'number') throw wrong(name);
  return formatDecimal(value);
}

/** The shortest digits of a number, without an exponent. @param value below 1e21 */
function formatDecimal(value: number): string {
  const [, sign = '', digits = '', places = ''] = /^(-?)([\d.]+)e-(\d+)$/.exec(String(value)) ?? [];
  if (places === '') return String(value);
  return `${sign}0.${'0'.repeat(Number(places) - 1)}${digits.replace('.', '')}`;
}

function wrong(name: string): TypeError {
  return new TypeError(`unexpected value of ${name}`);
}
