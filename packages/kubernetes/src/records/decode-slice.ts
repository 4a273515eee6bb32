/**
 * Decodes an EndpointSlice from Protocol Buffers into a draft, in one pass. Endpoints that are not ready are kept, with what
 * their conditions say.
 */
import { isIP } from 'node:net';
import { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { placeWord, SliceDraft } from '@portolan/kernel/records/drafts.ts';
import { ENDPOINT_STATE } from '@portolan/kernel/records/layout.ts';
import type { EndpointsObject } from '../objects/objects.ts';
import { trimEndpointSlice, trimEndpointSliceOfPods } from '../objects/trim/trim-endpoint-slice.ts';
import { nameless, type Trimmed } from '../objects/trim/trimmed.ts';
import { EncodedObject } from '../protobuf/encoded-object.ts';
import { readObjectNames, writeSliceKeys } from './draft-keys.ts';
import { DraftedSlice } from './drafted.ts';
import { MetadataReader } from './metadata.ts';
import { PortDecoder } from './port-decoder.ts';
import {
  clearRange,
  delimited,
  isText,
  newRange,
  type OctetSpan,
  readFields,
  readInner,
  readIpv4Octets,
  readRange,
  varint,
} from './protobuf-fields.ts';

const METADATA = delimited(1);
const ENDPOINTS = delimited(2);
const PORTS = delimited(3);
const ADDRESS_TYPE = delimited(4);
const ADDRESSES = delimited(1);
const CONDITIONS = delimited(2);
const HOSTNAME = delimited(3);
const TARGET = delimited(4);
const NODE_NAME = delimited(6);
const ZONE = delimited(7);
const HINTS = delimited(8);
const FOR_ZONES = delimited(1);
const FOR_NODES = delimited(2);
const NAME_OF_HINT = delimited(1);
const READY = varint(1);
const SERVING = varint(2);
const TERMINATING = varint(3);
const NAME_OF_TARGET = delimited(3);
const FQDN = Buffer.from('FQDN', 'latin1');
/** Addresses of one endpoint. The API allows 100. */
const MAX_ADDRESSES = 100;

class SliceDecoder {
  readonly #draft = new SliceDraft();
  readonly #metadata = new MetadataReader();
  readonly #ports = new PortDecoder(this.#draft.ports);
  readonly #addressType = newRange();
  /** Of the endpoint that is being read. */
  readonly #addresses: readonly OctetSpan[] = Array.from({ length: MAX_ADDRESSES }, newRange);
  #addressCount = 0;
  readonly #hostname = newRange();
  readonly #target = newRange();
  #state = 0;
  #isReady = true;
  #namesPods = false;
  #readsPlaces = false;
  readonly #name = newRange();
  #octets: Buffer = Buffer.alloc(0);

  /**
   * @param namesPods whether endpoints without a hostname have the names of their pods
   * @param readsPlaces whether their zones and nodes are read
   * @throws ProtobufError
   */
  decode(encoded: EncodedObject, namesPods: boolean, readsPlaces: boolean): Trimmed<EndpointsObject> {
    const { octets } = encoded;
    this.#octets = octets;
    this.#namesPods = namesPods;
    this.#readsPlaces = readsPlaces;
    this.#draft.clear();
    this.#metadata.clear();
    clearRange(this.#addressType);
    readFields(new Cursor(octets, encoded.start, encoded.end), this.#take);
    const names = readObjectNames(octets, this.#metadata);
    if (names === undefined) return nameless();
    const { service, changeTime } = this.#metadata;
    if (service.end === service.start) return { kind: 'left-out', key: `${names.namespace}/${names.name}` };
    // The type comes behind the endpoints.
    if (!isText(octets, this.#addressType, FQDN)) this.#draft.clearTargets();
    this.#draft.endGroup();
    writeSliceKeys(this.#draft, octets, this.#metadata);
    const all = {
      ...names,
      service: octets.toString('utf8', service.start, service.end),
      changeTime:
        changeTime.end === changeTime.start
          ? undefined
          : octets.toString('utf8', changeTime.start, changeTime.end),
    };
    return { kind: 'object', object: new DraftedSlice(all, this.#draft, encoded) };
  }

  readonly #take = (tag: number, cursor: Cursor): boolean => {
    if (tag === METADATA) this.#metadata.read(cursor);
    else if (tag === ENDPOINTS) this.#readEndpoint(cursor);
    else if (tag === PORTS) this.#ports.read(cursor);
    else if (tag === ADDRESS_TYPE) readRange(cursor, this.#addressType);
    else return false;
    return true;
  };

  #readEndpoint(cursor: Cursor): void {
    this.#addressCount = 0;
    this.#state = 0;
    // Unset means ready, as the API reference says.
    this.#isReady = true;
    clearRange(this.#hostname);
    clearRange(this.#target);
    if (this.#readsPlaces) this.#draft.places.begin();
    readInner(cursor, this.#takeOfEndpoint);
    const name =
      this.#namesPods && this.#hostname.end === this.#hostname.start ? this.#target : this.#hostname;
    const state = this.#isReady ? 0 : this.#state | ENDPOINT_STATE.NOT_READY;
    for (let index = 0; index < this.#addressCount; index++)
      this.#addAddress(this.#addresses[index], state, name);
  }

  readonly #takeOfEndpoint = (tag: number, cursor: Cursor): boolean => {
    const address = this.#addresses[this.#addressCount];
    if (tag === ADDRESSES && address !== undefined) {
      readRange(cursor, address);
      this.#addressCount++;
    } else if (tag === CONDITIONS) readInner(cursor, this.#takeOfConditions);
    else if (tag === HOSTNAME) readRange(cursor, this.#hostname);
    else if (tag === TARGET) readInner(cursor, this.#takeOfTarget);
    else return this.#readsPlaces && this.#takePlace(tag, cursor);
    return true;
  };

  #takePlace(tag: number, cursor: Cursor): boolean {
    const { places } = this.#draft;
    if (tag === NODE_NAME) places.nodes.set(this.#readWord(cursor));
    else if (tag === ZONE) places.zones.set(this.#readWord(cursor));
    else if (tag === HINTS) readInner(cursor, this.#takeOfHints);
    else return false;
    return true;
  }

  /** @returns 0 for an empty name */
  #readWord(cursor: Cursor): number {
    const name = this.#name;
    readRange(cursor, name);
    return name.end === name.start ? 0 : placeWord(this.#octets, name.start, name.end);
  }

  readonly #takeOfHints = (tag: number, cursor: Cursor): boolean => {
    if (tag !== FOR_ZONES && tag !== FOR_NODES) return false;
    clearRange(this.#name);
    readInner(cursor, this.#takeOfHint);
    const { start, end } = this.#name;
    const { zones, nodes } = this.#draft.places;
    if (end > start) (tag === FOR_ZONES ? zones : nodes).addHint(placeWord(this.#octets, start, end));
    return true;
  };

  readonly #takeOfHint = (tag: number, cursor: Cursor): boolean => {
    if (tag !== NAME_OF_HINT) return false;
    readRange(cursor, this.#name);
    return true;
  };

  readonly #takeOfConditions = (tag: number, cursor: Cursor): boolean => {
    if (tag === READY) this.#isReady = cursor.readNumber() !== 0;
    else if (tag === SERVING) this.#state |= cursor.readNumber() === 0 ? 0 : ENDPOINT_STATE.SERVING;
    else if (tag === TERMINATING) this.#state |= cursor.readNumber() === 0 ? 0 : ENDPOINT_STATE.TERMINATING;
    else return false;
    return true;
  };

  readonly #takeOfTarget = (tag: number, cursor: Cursor): boolean => {
    if (tag !== NAME_OF_TARGET) return false;
    readRange(cursor, this.#target);
    return true;
  };

  #addAddress(range: OctetSpan | undefined, state: number, name: OctetSpan): void {
    if (range === undefined) return;
    const octets = this.#octets;
    const ipv4 = readIpv4Octets(octets, range);
    const { start, end } = name;
    if (ipv4 >= 0) this.#draft.addIpv4(ipv4, state, octets, start, end);
    else this.#addText(octets.toString('latin1', range.start, range.end), state, start, end);
  }

  /** Adds an IPv6 address or, if it is ready, a name. */
  #addText(text: string, state: number, start: number, end: number): void {
    if (isIP(text) !== 0) this.#draft.addAddress(text, state, this.#octets, start, end);
    else if (state === 0) this.#draft.addTarget(text, this.#octets, start, end);
  }
}

const decoder = new SliceDecoder();

/**
 * Decodes a slice; one in JSON is trimmed in the usual way. The result is valid until the next call.
 *
 * @throws ProtobufError
 */
export function decodeSlice(raw: unknown): Trimmed<EndpointsObject> {
  return raw instanceof EncodedObject ? decoder.decode(raw, false, false) : trimEndpointSlice(raw);
}

/** As `decodeSlice`, with the names of pods for endpoints that have no hostname. */
export function decodeSliceOfPods(raw: unknown): Trimmed<EndpointsObject> {
  return raw instanceof EncodedObject ? decoder.decode(raw, true, false) : trimEndpointSliceOfPods(raw);
}

/** As `decodeSlice`, with the zones and nodes of endpoints. */
export function decodePlacedSlice(raw: unknown): Trimmed<EndpointsObject> {
  return raw instanceof EncodedObject ? decoder.decode(raw, false, true) : trimEndpointSlice(raw);
}

/** As `decodeSliceOfPods`, with the zones and nodes of endpoints. */
export function decodePlacedSliceOfPods(raw: unknown): Trimmed<EndpointsObject> {
  return raw instanceof EncodedObject ? decoder.decode(raw, true, true) : trimEndpointSliceOfPods(raw);
}
