/**
 * Query events of the main thread: queries that came by TCP, and all that the handler chain answered, over any transport.
 *
 * Each event is its own batch, since the main thread answers one query at a time.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { ENDPOINTS_ARE_IPV6, writeEnvelopeEndpoints } from '../../socket/endpoints.ts';
import { FLAG, TRANSPORTS } from './event-ring.ts';
import { type EndpointSource, QueryEventWriter } from './event-writer.ts';

/** An address as text, and a port. */
interface Peer {
  readonly address: string;
  readonly port: number;
}

/** The facts about a query that its octets do not show. */
export interface AnsweredQuery {
  /** When it was received, from {@link MainThreadEvents.now}. */
  readonly received: number;
  readonly source: 'table' | 'chain';
  readonly transport: ClientTransport;
}

const MAX_NOTE_OCTETS = 0xffff;

export class MainThreadEvents {
  readonly #writer: QueryEventWriter;

  constructor(memory: SharedArrayBuffer) {
    this.#writer = new QueryEventWriter(memory);
  }

  /** Whether events are enabled now. */
  get isOn(): boolean {
    return this.#writer.isOn;
  }

  /** Whether this answer is to have an event. @param received as in {@link AnsweredQuery} */
  wants(response: Uint8Array, length: number, received: number): boolean {
    return this.#writer.begin() && this.#writer.wants(response, 0, length, received);
  }

  /** The clock of events. */
  now(): number {
    return this.#writer.now();
  }

  add(query: Uint8Array, response: Uint8Array, client: Peer, about: AnsweredQuery): void {
    this.#add(query, response, { writeEndpoints: (_, target, at) => writeClient(client, target, at) }, about);
  }

  /** Adds a line about a query. @param number up to 2^32 - 1, for the reader of notes */
  note(line: string, number = 0): void {
    this.#writer.note(Buffer.from(line).subarray(0, MAX_NOTE_OCTETS), this.#writer.now(), number);
  }

  /** @param envelope of the packet, see `socket/envelope.ts` */
  addPacket(query: Uint8Array, response: Uint8Array, envelope: Uint8Array, about: AnsweredQuery): void {
    this.#add(
      query,
      response,
      { writeEndpoints: (_, target, at) => writeEnvelopeEndpoints(envelope, target, at) },
      about,
    );
  }

  #add(query: Uint8Array, response: Uint8Array, source: EndpointSource, about: AnsweredQuery): void {
    const writer = this.#writer;
    if (!writer.begin()) return;
    writer.receivedAt(about.received);
    const flags = TRANSPORTS.indexOf(about.transport) | (about.source === 'chain' ? FLAG.CHAIN : 0);
    writer.noteQuery(toDataView(query), 0, query.length, flags);
    writer.write(toDataView(response), 0, response.length, source, 0);
    writer.publish();
  }
}

function toDataView(octets: Uint8Array): DataView {
  return new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
}

function writeClient({ address, port }: Peer, target: Uint32Array, at: number): number {
  const octets = parseAddress(address.split('%')[0] ?? '') ?? new Uint8Array(4);
  const words = octets.length / 4;
  const view = toDataView(octets);
  target[at] = port | (words === 4 ? ENDPOINTS_ARE_IPV6 : 0);
  for (let word = 0; word < words; word++) {
    target[at + 1 + word] = view.getUint32(word * 4, true);
    target[at + 1 + words + word] = 0;
  }
  return 1 + 2 * words;
}
