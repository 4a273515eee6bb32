/**
 * Headers of the PROXY protocol in UDP packets: a reader removes them, and the packet then is that of the client that the header
 * tells.
 */
import { NO_HEADER, ProxyHeaderReader } from './proxy-header.ts';
import { ProxyPolicies, type ProxyProtocolPlan } from './proxy-policy.ts';

/** Packets of a batch: see `PacketBatch`. */
interface PacketsWithHeaders {
  readonly octets: Uint8Array;
  startAt(index: number): number;
  lengthAt(index: number): number;
  locateClient(index: number): number;
  removeStart(index: number, octets: number): void;
  setClient(index: number, address: Uint8Array, length: number): void;
}

/** Reads the headers of packets to one socket. */
export class ProxiedPackets {
  readonly #policies: ProxyPolicies;
  readonly #header = new ProxyHeaderReader();

  constructor(plan: ProxyProtocolPlan) {
    this.#policies = new ProxyPolicies(plan);
  }

  /** Removes the header of packet `index`. @returns whether the packet is to be answered; otherwise drop it */
  take(packets: PacketsWithHeaders, index: number): boolean {
    const { octets } = packets;
    const policy = this.#policies.find(octets, packets.locateClient(index));
    if (policy === 'skip') return true;
    const start = packets.startAt(index);
    const header = this.#header;
    const length = header.read(octets, start, start + packets.lengthAt(index));
    if (length === NO_HEADER.NONE) return true;
    if (policy === 'reject' || !isHeaderOfDatagram(header, length)) return false;
    packets.removeStart(index, length);
    if (policy === 'use' && header.source.length > 0)
      packets.setClient(index, header.source.octets, header.source.length);
    return true;
  }
}

/** Whether a header may stand in a datagram: it is whole, of version 2, and tells of a datagram or of the proxy itself. */
export function isHeaderOfDatagram(header: ProxyHeaderReader, length: number): boolean {
  return length > 0 && header.version === 2 && (header.isOfDatagrams || header.source.length === 0);
}
