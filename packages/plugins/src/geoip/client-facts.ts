/**
 * Facts about the networks of clients, for labels such as `geoip/country/code`.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { uint16At } from '@portolan/dns/header.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { FactSource, Query } from '@portolan/kernel/chain/query.ts';
import type { GeoDatabase, GeoSchema } from './database.ts';
import { describeRecord, type GeoFacts } from './describe-record.ts';

const PREFIX = 'geoip/';
/** EDNS Client Subnet (RFC 7871 section 6): family, two prefix lengths, the octets of the address that are not zero. */
const CLIENT_SUBNET = 8;
const SUBNET_ADDRESS_AT = 4;
/** Octets of an address by family, as in the registry of address families; CoreDNS reads 0 as IPv4. */
const ADDRESS_OCTETS = [4, 4, 16];
/** Addresses whose facts are kept: a record takes some 20 us to read. */
const MAX_KNOWN = 1024;
const NO_FACTS: GeoFacts = new Map();

export interface ClientFactsOptions {
  readonly database: Pick<GeoDatabase, 'schemas' | 'find'>;
  /** Whether the subnet that a query names goes before the address of its sender. */
  readonly usesSubnet: boolean;
  readonly log: Pick<Log, 'debug'>;
}

export class ClientFacts implements FactSource {
  readonly #options: ClientFactsOptions;
  /** By address. */
  readonly #known = new Map<string, GeoFacts>();

  constructor(options: ClientFactsOptions) {
    this.#options = options;
  }

  fact(query: Query, label: string): string | undefined {
    if (!label.startsWith(PREFIX)) return undefined;
    return this.#describe(query).get(label.slice(PREFIX.length));
  }

  #describe(query: Query): GeoFacts {
    // Answers that depend on it are for this client alone.
    const { address } = query.dependOnClient();
    const subnet = this.#options.usesSubnet ? findSubnet(query) : undefined;
    const octets = subnet ?? parseAddress(address.split('%', 1)[0] ?? address);
    if (octets === undefined) return NO_FACTS;
    const key = octets.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const facts = this.#readFacts(octets);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, facts);
    return facts;
  }

  #readFacts(octets: Uint8Array): GeoFacts {
    const { database } = this.#options;
    return new Map(database.schemas.flatMap((schema) => [...this.#readSchema(schema, octets)]));
  }

  /** A record that cannot be read has no labels, as in CoreDNS. */
  #readSchema(schema: GeoSchema, octets: Uint8Array): GeoFacts {
    const { database, log } = this.#options;
    try {
      return describeRecord(schema, database.find(octets));
    } catch (error) {
      const reason = describeError(error);
      log.debug(`plugin/geoip: Setting up ${schema} metadata failed due to database lookup error: ${reason}`);
      return NO_FACTS;
    }
  }
}

/** The address of the first client subnet; undefined: the query names none. */
function findSubnet({ edns }: Query): Uint8Array | undefined {
  const data = edns?.options.find(({ code }) => code === CLIENT_SUBNET)?.data;
  if (data === undefined || data.length < SUBNET_ADDRESS_AT) return undefined;
  const octets = ADDRESS_OCTETS[uint16At(data, 0)];
  if (octets === undefined) return undefined;
  const address = new Uint8Array(octets);
  address.set(data.subarray(SUBNET_ADDRESS_AT, SUBNET_ADDRESS_AT + octets));
  return address;
}
