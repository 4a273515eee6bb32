/**
 * Decodes a Service from Protocol Buffers into a draft, in one pass.
 */
import { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import { ServiceDraft } from '@portolan/kernel/records/drafts.ts';
import { APP_PROTOCOL, DISTRIBUTION, SERVICE_KIND } from '@portolan/kernel/records/layout.ts';
import { encodeAppProtocol, parseAppProtocol } from '../names/app-protocol.ts';
import type { ServiceObject } from '../objects/objects.ts';
import { trimService } from '../objects/trim/trim-service.ts';
import { nameless, type Trimmed } from '../objects/trim/trimmed.ts';
import { EncodedObject } from '../protobuf/encoded-object.ts';
import { readObjectNames, writeServiceKey } from './draft-keys.ts';
import { DraftedService } from './drafted.ts';
import { setExternalName } from './fill-drafts.ts';
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
  readRange,
} from './protobuf-fields.ts';

const METADATA = delimited(1);
const SPEC = delimited(2);
const PORTS = delimited(1);
const SELECTOR = delimited(2);
const CLUSTER_IP = delimited(3);
const TYPE = delimited(4);
const EXTERNAL_NAME = delimited(10);
const CLUSTER_IPS = delimited(18);
const TRAFFIC_DISTRIBUTION = delimited(23);

const NONE = Buffer.from('None', 'latin1');
const EXTERNAL = Buffer.from('ExternalName', 'latin1');
const PREFER_CLOSE = Buffer.from('PreferClose', 'latin1');
const PREFER_ZONE = Buffer.from('PreferSameZone', 'latin1');
const PREFER_NODE = Buffer.from('PreferSameNode', 'latin1');

class ServiceDecoder {
  readonly #draft = new ServiceDraft();
  readonly #metadata = new MetadataReader();
  readonly #ports = new PortDecoder(this.#draft.ports);
  readonly #address = newRange();
  readonly #type = newRange();
  readonly #externalName = newRange();
  readonly #distribution = newRange();
  #octets: Buffer = Buffer.alloc(0);
  #hasSpec = false;
  #hasAddresses = false;
  #isHeadless = false;

  /** @throws ProtobufError */
  decode(encoded: EncodedObject): Trimmed<ServiceObject> {
    this.#clear(encoded);
    readFields(new Cursor(encoded.octets, encoded.start, encoded.end), this.#take);
    const names = readObjectNames(encoded.octets, this.#metadata);
    if (names === undefined) return nameless();
    const key = `${names.namespace}/${names.name}`;
    if (!this.#hasSpec) return { kind: 'malformed', key, problem: 'spec is not an object' };
    const draft = this.#draft;
    writeServiceKey(draft, encoded.octets, this.#metadata);
    this.#noteVersions(draft);
    if (!this.#finish(draft)) return { kind: 'malformed', key, problem: 'spec.externalName is not a name' };
    return { kind: 'object', object: new DraftedService(names, draft, encoded) };
  }

  #clear({ octets }: EncodedObject): void {
    this.#octets = octets;
    this.#draft.clear();
    this.#metadata.clear();
    const ranges = [this.#address, this.#type, this.#externalName, this.#distribution];
    for (const range of ranges) clearRange(range);
    this.#hasSpec = false;
    this.#hasAddresses = false;
    this.#isHeadless = false;
  }

  readonly #take = (tag: number, cursor: Cursor): boolean => {
    if (tag === METADATA) this.#metadata.read(cursor);
    else if (tag === SPEC) {
      this.#hasSpec = true;
      readInner(cursor, this.#takeOfSpec);
    } else return false;
    return true;
  };

  readonly #takeOfSpec = (tag: number, cursor: Cursor): boolean => {
    if (tag === PORTS) this.#ports.read(cursor);
    else if (tag === SELECTOR) {
      this.#draft.selects = true;
      return false;
    } else if (tag === CLUSTER_IP) readRange(cursor, this.#address);
    else if (tag === TYPE) readRange(cursor, this.#type);
    else if (tag === EXTERNAL_NAME) readRange(cursor, this.#externalName);
    else if (tag === CLUSTER_IPS) this.#readAddress(cursor);
    else if (tag === TRAFFIC_DISTRIBUTION) readRange(cursor, this.#distribution);
    else return false;
    return true;
  };

  readonly #one = newRange();

  #readAddress(cursor: Cursor): void {
    readRange(cursor, this.#one);
    this.#hasAddresses = true;
    this.#addAddress(this.#one);
  }

  #addAddress(range: OctetSpan): void {
    if (isText(this.#octets, range, NONE)) this.#isHeadless = true;
    else this.#draft.addAddress(this.#octets.toString('latin1', range.start, range.end));
  }

  /** The versions of HTTP with TLS depend on the annotation, which may come behind the ports. */
  #noteVersions({ ports: { appProtocols } }: ServiceDraft): void {
    const { start, end } = this.#metadata.alpn;
    if (start === end) return;
    const bits = encodeAppProtocol(parseAppProtocol('https', this.#octets.toString('utf8', start, end)));
    for (let index = 0; index < appProtocols.length; index++)
      if (((appProtocols.items[index] ?? 0) & APP_PROTOCOL.HTTPS) !== 0) appProtocols.items[index] = bits;
  }

  /** Decides on the kind of the service. @returns false if it has no usable address or name */
  #finish(draft: ServiceDraft): boolean {
    if (isText(this.#octets, this.#type, EXTERNAL)) {
      const { start, end } = this.#externalName;
      draft.ipv4.length = 0;
      draft.ipv6.length = 0;
      if (end > start) setExternalName(draft, this.#octets.toString('utf8', start, end));
      return end > start;
    }
    if (!this.#hasAddresses) this.#addAddress(this.#address);
    draft.kind = this.#isHeadless ? SERVICE_KIND.HEADLESS : SERVICE_KIND.CLUSTER;
    if (!this.#isHeadless) return true;
    draft.ipv4.length = 0;
    draft.ipv6.length = 0;
    draft.distribution = this.#readDistribution();
    return true;
  }

  /** @returns of `DISTRIBUTION` */
  #readDistribution(): number {
    const is = (word: Uint8Array) => isText(this.#octets, this.#distribution, word);
    if (is(PREFER_CLOSE) || is(PREFER_ZONE)) return DISTRIBUTION.ZONE;
    return is(PREFER_NODE) ? DISTRIBUTION.NODE : DISTRIBUTION.NONE;
  }
}

const decoder = new ServiceDecoder();

/**
 * Decodes a service; one in JSON is trimmed in the usual way. The result is valid until the next call.
 *
 * @throws ProtobufError
 */
export function decodeService(raw: unknown): Trimmed<ServiceObject> {
  return raw instanceof EncodedObject ? decoder.decode(raw) : trimService(raw);
}
