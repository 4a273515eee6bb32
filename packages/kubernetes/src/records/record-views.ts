/**
 * Reads records back as the values that names are derived from, for the handler chain: what readers leave to it, and what
 * is listed.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { decodeName } from '@portolan/dns/name-wire.ts';
import type { NameKey, WireName } from '@portolan/dns/types.ts';
import {
  PORT,
  PROTOCOLS,
  SECTION,
  SELECTS_PODS,
  SERVICE,
  SERVICE_KIND,
  SERVICE_RECORD,
  SLICE_TARGETS,
} from '@portolan/kernel/records/layout.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { readPortProtocol } from '@portolan/kernel/records/service-fields.ts';
import {
  type AddressValue,
  listSections,
  readEndpointAddress,
  readEndpointHostname,
  readyIn,
  targetsIn,
  toAddressOctets,
} from '@portolan/kernel/records/slice-addresses.ts';
import { decodeAppProtocol } from '../names/app-protocol.ts';
import type { NamedTarget } from '../names/endpoint-targets.ts';
import type { Endpoint } from '../names/endpoints.ts';
import type { ServiceObject, ServicePort } from '../objects/objects.ts';

/** A namespace, and the name of an object in it. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

export class RecordViews {
  readonly #writer: RecordWriter;
  readonly #words: Int32Array;
  readonly #octets: Uint8Array;
  /** The same octets. */
  readonly #texts: Buffer;

  constructor(writer: RecordWriter) {
    this.#writer = writer;
    this.#words = writer.space.views.atoms;
    this.#octets = writer.space.views.octets;
    this.#texts = Buffer.from(this.#octets.buffer, this.#octets.byteOffset, this.#octets.length);
  }

  /** @param entry of a service */
  readNamespacedName(entry: number): NamespacedName {
    const name = this.labelAt(entry + SERVICE.KEY);
    return { name, namespace: this.labelAt(entry + SERVICE.KEY + 1 + name.length) };
  }

  /** @param at the octet of a label's length */
  labelAt(at: number): string {
    return this.#text(at + 1, this.#octets[at] ?? 0);
  }

  #text(at: number, length: number): string {
    return this.#texts.toString('utf8', at, at + length);
  }

  #get(at: number): number {
    return this.#words[at >> 2] ?? 0;
  }

  /** Whether a service is known, and not only its slices. */
  hasService(entry: number): boolean {
    return entry !== 0 && this.#get(entry + SERVICE.RECORD) !== 0;
  }

  /** A service as an object; undefined if only its slices are known. */
  service(entry: number): ServiceObject | undefined {
    if (!this.hasService(entry)) return undefined;
    const record = this.#get(entry + SERVICE.RECORD);
    const head = this.#get(record);
    const ipv6At = record + SERVICE_RECORD.ADDRESSES + ((head >>> 8) & 0xff) * 4;
    const portsAt = ipv6At + ((head >>> 16) & 0xff) * 16;
    const { ports, end } = this.#ports(portsAt, this.#get(record + SERVICE_RECORD.PORTS));
    const selects = (head & SELECTS_PODS) === 0 ? {} : { selects: true };
    const address = this.#address(record, end);
    return { kind: 'Service', ...this.readNamespacedName(entry), address, ports, ...selects };
  }

  /** @param externalAt the octet behind the ports */
  #address(record: number, externalAt: number): ServiceObject['address'] {
    switch (this.#get(record) & 0xff) {
      case SERVICE_KIND.HEADLESS:
        return { kind: 'headless' };
      case SERVICE_KIND.EXTERNAL: {
        const length = this.#get(record + SERVICE_RECORD.EXTERNAL) & 0xffff;
        return { kind: 'externalName', name: this.#text(externalAt, length) };
      }
      default:
        return { kind: 'clusterIPs', addresses: this.#ownAddresses(record) };
    }
  }

  #ownAddresses(record: number): readonly string[] {
    const head = this.#get(record);
    const ipv4 = (head >>> 8) & 0xff;
    const ipv6 = (head >>> 16) & 0xff;
    const at = record + SERVICE_RECORD.ADDRESSES;
    const short = Array.from({ length: ipv4 }, (_, index) => formatValue(this.#get(at + index * 4)));
    const longAt = at + ipv4 * 4;
    const long = Array.from({ length: ipv6 }, (_, index) =>
      formatAddress(this.#octets.slice(longAt + index * 16, longAt + index * 16 + 16)),
    );
    return [...short, ...long];
  }

  #ports(at: number, count: number): { readonly ports: readonly ServicePort[]; readonly end: number } {
    const ports: ServicePort[] = [];
    let end = at;
    for (let index = 0; index < count; index += 1) {
      const length = this.#octets[end + PORT.LENGTH] ?? 0;
      const appProtocol = decodeAppProtocol(this.#octets[end + PORT.PROTOCOL] ?? 0);
      ports.push({
        name: this.#text(end + PORT.NAME, length),
        protocol: PROTOCOLS[readPortProtocol(this.#octets, end)] ?? 'TCP',
        port: ((this.#octets[end] ?? 0) << 8) | (this.#octets[end + 1] ?? 0),
        ...(appProtocol !== undefined && { appProtocol }),
      });
      end += PORT.NAME + length;
    }
    return { ports, end };
  }

  /** The ready endpoints of each slice of a service. */
  endpoints(entry: number): readonly (readonly Endpoint[])[] {
    return Array.from(this.#writer.slices.records(entry), (record) => this.#endpointsIn(record));
  }

  #endpointsIn(record: number): readonly Endpoint[] {
    const { views } = this.#writer.space;
    const endpoints: Endpoint[] = [];
    for (const section of listSections(views, record)) {
      const ports = this.portsIn(section);
      for (let index = 0, ready = readyIn(views, section); index < ready; index += 1)
        endpoints.push({
          address: formatValue(readEndpointAddress(views, section, index)),
          hostname: readEndpointHostname(views, section, index),
          ports,
        });
    }
    return endpoints;
  }

  /** The ready endpoints of a service that are names. */
  targets(entry: number): readonly NamedTarget[] {
    return [...this.#writer.slices.records(entry)].flatMap((record) => this.#targetsIn(record));
  }

  #targetsIn(record: number): readonly NamedTarget[] {
    const start = targetsIn(this.#writer.space.views, record);
    if (start === 0) return [];
    const counts = this.#get(start + SLICE_TARGETS.COUNTS);
    const { ports, end } = this.#ports(start + SLICE_TARGETS.PORTS, counts >>> 16);
    const targets: NamedTarget[] = [];
    let at = end;
    for (let left = counts & 0xffff; left > 0; left -= 1) {
      const label = this.labelAt(at);
      const nameAt = at + 1 + (this.#octets[at] ?? 0);
      const name = this.#nameAt(nameAt);
      targets.push({ target: name.key, label: label === '' ? undefined : label, ports });
      at = nameAt + name.octets;
    }
    return targets;
  }

  #nameAt(at: number): { readonly key: NameKey; readonly octets: number } {
    let end = at;
    while ((this.#octets[end] ?? 0) !== 0) end += 1 + (this.#octets[end] ?? 0);
    const octets = this.#octets.slice(at, end + 1);
    // A name in lower case: written from a key, or checked as the snapshot was read.
    return { key: decodeName(octets as WireName) as string as NameKey, octets: octets.length };
  }

  /** The ports of a section. */
  portsIn(section: number): readonly ServicePort[] {
    const count = this.#get(section + SECTION.SHAPE) & 0xffff;
    return this.#ports(section + this.#get(section + SECTION.PORTS), count).ports;
  }
}

/** The canonical text of an address. */
export function formatValue(address: AddressValue): string {
  if (typeof address === 'string') return formatAddress(toAddressOctets(address));
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}
