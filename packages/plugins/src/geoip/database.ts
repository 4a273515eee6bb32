/**
 * A file in the MaxMind DB format: what it says about addresses.
 */
import { createRequire } from 'node:module';
import { formatAddress, unmapAddress } from '@portolan/dns/address.ts';
import type { Reader, Response } from 'mmdb-lib';

/** Loaded on demand: most configurations have no database. */
let loaded: typeof import('mmdb-lib') | undefined;

function library(): typeof import('mmdb-lib') {
  loaded ??= createRequire(import.meta.url)('mmdb-lib') as typeof import('mmdb-lib');
  return loaded;
}

/** What the records of a database are about. */
export type GeoSchema = 'city' | 'asn';

const CITY: readonly GeoSchema[] = ['city'];
const ASN: readonly GeoSchema[] = ['asn'];
const OTHER: readonly GeoSchema[] = [];

/** The schemas by the type that a database names itself. CoreDNS knows exactly these. */
const SCHEMAS: ReadonlyMap<string, readonly GeoSchema[]> = new Map([
  ...[
    'DBIP-City-Lite',
    'DBIP-Country-Lite',
    'DBIP-Country',
    'DBIP-Location (compat=City)',
    'DBIP-ISP (compat=Enterprise)',
    'DBIP-Location-ISP (compat=Enterprise)',
    'GeoLite2-City',
    'GeoLite2-Country',
    'GeoIP-City-Redacted-US',
    'GeoIP-Enterprise-Redacted-US',
    'GeoIP2-City',
    'GeoIP2-City-Africa',
    'GeoIP2-City-Asia-Pacific',
    'GeoIP2-City-Europe',
    'GeoIP2-City-North-America',
    'GeoIP2-City-South-America',
    'GeoIP2-Country',
    'GeoIP2-Enterprise',
    'GeoIP2-Precision-City',
  ].map((type) => [type, CITY] as const),
  ...['DBIP-ASN-Lite (compat=GeoLite2-ASN)', 'GeoLite2-ASN', 'GeoIP2-ISP', 'GeoIP2-Precision-ISP'].map(
    (type) => [type, ASN] as const,
  ),
  ...['GeoIP-Anonymous-Plus', 'GeoIP2-Anonymous-IP', 'GeoIP2-Connection-Type', 'GeoIP2-Domain'].map(
    (type) => [type, OTHER] as const,
  ),
]);

export class GeoDatabase {
  readonly schemas: readonly GeoSchema[];
  /** When it was built, and its size: another version of a file has another one. */
  readonly version: string;
  readonly #reader: Reader<Response>;

  /** @throws Error in CoreDNS's words: it is no database, or it has none of the schemas */
  constructor(octets: Uint8Array) {
    const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
    this.#reader = openReader(buffer);
    const { databaseType, buildEpoch } = this.#reader.metadata;
    const schemas = SCHEMAS.get(databaseType);
    if (schemas === undefined)
      throw new Error(
        `failed to open database file: geoip2: reader does not support the ${JSON.stringify(databaseType)} database type`,
      );
    if (schemas.length === 0) throw new Error('database does not provide any supported schema (city, asn)');
    this.schemas = schemas;
    this.version = `${buildEpoch.getTime() / 1000} ${octets.length}`;
  }

  /**
   * The record of an address; null: it has none.
   *
   * @param address 4 or 16 octets
   * @throws Error: the database is damaged there, or it knows only addresses of IPv4
   */
  find(address: Uint8Array): unknown {
    const plain = unmapAddress(address);
    if (plain.length === 16 && this.#reader.metadata.ipVersion === 4)
      throw new Error('an IPv6 address in a database of IPv4');
    return this.#reader.get(formatAddress(plain));
  }
}

function openReader(buffer: Buffer): Reader<Response> {
  if (buffer.length === 0) throw new Error('failed to open database file: file is empty');
  const { Reader: Opened } = library();
  try {
    return new Opened(buffer);
  } catch {
    // The library says what it stumbled over, which helps nobody.
    throw new Error('failed to open database file: error opening database: invalid MaxMind DB file');
  }
}
