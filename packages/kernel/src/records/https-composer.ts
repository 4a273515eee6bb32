/**
 * HTTPS records of services (RFC 9460), in both dialects: at the name of the service for port 443, and at `_PORT._https` below it.
 *
 * A client that finds a record uses TLS, also for `http` (RFC 9460 section 9.5). So there is none where a port may be without.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED } from '../table/composer.ts';
import { type ComposerContext, QUESTION_NAME } from './composer-context.ts';
import type { EndpointWriter } from './endpoint-writer.ts';
import { APP_PROTOCOL, CLUSTER_FLAG, PORT, SERVICE_KIND } from './layout.ts';
import { areEqual, nextPort, portNumber, readPortProtocol, type ServiceFields } from './service-fields.ts';

const HTTPS_PORT = 443;
const HTTP_PORT = 80;
const TCP = 0;
const UDP = 1;
const PRIORITY = 1;
/** RFC 9460 section 14.3.2. */
const KEY = { ALPN: 1, PORT: 3, IPV4HINT: 4, IPV6HINT: 6 } as const;
/** Octets of the parameters at most: the hints are 255 addresses of each family. */
const LARGEST = 8192;
/** In wire form. */
const ROOT = Uint8Array.of(0);
const HTTPS_LABEL = Buffer.from('\x06_https', 'latin1');
const H2 = Buffer.from('\x02h2', 'latin1');
const H3 = Buffer.from('\x02h3', 'latin1');
const UNDERSCORE = 0x5f;
const ZERO = 0x30;
const MAX_DIGITS = 5;
/** In place of the octet of a port. */
const NO_PORT = -1;
/** Endpoints are listed with the port and without it: only the chain knows whether they are the same. */
const UNCLEAR = -2;

export class HttpsComposer {
  readonly #context: ComposerContext;
  readonly #endpoints: EndpointWriter;
  readonly #parameters = new Uint8Array(LARGEST);
  readonly #view = new DataView(this.#parameters.buffer);
  /** Octets of the parameters so far. */
  #length = 0;

  constructor(context: ComposerContext, endpoints: EndpointWriter) {
    this.#context = context;
    this.#endpoints = endpoints;
  }

  /** Answers for the type HTTPS at the name of a service. */
  composeOwn(service: ServiceFields): number {
    if (!this.#context.has(CLUSTER_FLAG.HTTPS_RECORDS)) return COMPOSED.NODATA;
    const port = this.#findOwn(service);
    if (port === UNCLEAR) return COMPOSED.ASK;
    if (port === NO_PORT) return COMPOSED.NODATA;
    this.#writeParameters(service, port, portNumber(this.#octets, port) !== HTTPS_PORT);
    return this.#add(service, true);
  }

  /**
   * Answers for a name of one or two labels below a service: `_https`, `_8443._https`.
   *
   * @returns `COMPOSED.NEXT` if it is another name
   */
  composeBelow(service: ServiceFields, below: number): number {
    const { sought } = this.#context;
    if (!this.#context.has(CLUSTER_FLAG.HTTPS_RECORDS) || below > 2) return COMPOSED.NEXT;
    const last = sought.labelStarts[below - 1] ?? 0;
    if (!areEqual(sought.name, last, HTTPS_LABEL, 0, HTTPS_LABEL.length)) return COMPOSED.NEXT;
    if (below === 1) return this.#composeAbove(service);
    const port = this.#findSecure(service, this.#readNumber(sought.name, sought.labelStarts[0] ?? 0));
    if (port === UNCLEAR) return COMPOSED.ASK;
    if (port === NO_PORT) return COMPOSED.NEXT;
    if (sought.type !== TYPE.HTTPS) return COMPOSED.NODATA;
    this.#writeParameters(service, port, false);
    return this.#add(service, false);
  }

  get #octets(): Uint8Array {
    return this.#context.views.octets;
  }

  /** @param isOwn whether the record is at the name of the service, so that its target is the root; otherwise that name is its target */
  #add(service: ServiceFields, isOwn: boolean): number {
    const context = this.#context;
    const { composition } = context;
    const targetLength = isOwn ? ROOT.length : context.nameLength(service);
    if (!composition.addBinding(PRIORITY, targetLength + this.#length)) return COMPOSED.RECORDS;
    if (isOwn) composition.append(ROOT, 0, ROOT.length);
    else context.appendName(service);
    composition.append(this.#parameters, 0, this.#length);
    if (service.kind === SERVICE_KIND.CLUSTER)
      context.addOwnAdditionals(service, isOwn ? QUESTION_NAME : composition.targetAt);
    return COMPOSED.RECORDS;
  }

  /** The octet of the port that `https://SERVICE/` means, `NO_PORT` or `UNCLEAR`: 443, else the only one with TLS. None if a client may mean one without TLS. */
  #findOwn(service: ServiceFields): number {
    const octets = this.#octets;
    let only = NO_PORT;
    let secure = 0;
    for (let index = 0, at = service.portsAt; index < service.ports; index++, at = nextPort(octets, at)) {
      if (readPortProtocol(octets, at) !== TCP) continue;
      const number = portNumber(octets, at);
      const bits = octets[at + PORT.PROTOCOL] ?? 0;
      if ((bits & APP_PROTOCOL.HTTPS) !== 0) {
        secure++;
        if (only === NO_PORT || number === HTTPS_PORT) only = at;
      } else if (number === HTTP_PORT || number === HTTPS_PORT || (bits & APP_PROTOCOL.PLAIN) !== 0)
        return NO_PORT;
    }
    if (only === NO_PORT || (secure > 1 && portNumber(octets, only) !== HTTPS_PORT)) return NO_PORT;
    return this.#findSecure(service, portNumber(octets, only));
  }

  /** Answers for `_https`, which exists if a name `_PORT._https` does. */
  #composeAbove(service: ServiceFields): number {
    const octets = this.#octets;
    let isUnclear = false;
    for (let index = 0, at = service.portsAt; index < service.ports; index++, at = nextPort(octets, at)) {
      const port = this.#findSecure(service, portNumber(octets, at));
      if (port >= 0) return COMPOSED.NODATA;
      isUnclear ||= port === UNCLEAR;
    }
    return isUnclear ? COMPOSED.ASK : COMPOSED.NEXT;
  }

  /** The octet of the TCP port of this number if it speaks TLS where clients reach it, `NO_PORT` or `UNCLEAR`. */
  #findSecure(service: ServiceFields, number: number): number {
    const octets = this.#octets;
    let found = NO_PORT;
    for (let index = 0, at = service.portsAt; index < service.ports; index++, at = nextPort(octets, at)) {
      if (readPortProtocol(octets, at) !== TCP || portNumber(octets, at) !== number) continue;
      if (((octets[at + PORT.PROTOCOL] ?? 0) & APP_PROTOCOL.HTTPS) === 0) return NO_PORT;
      if (found < 0) found = at;
    }
    if (found < 0 || service.kind === SERVICE_KIND.CLUSTER) return found;
    return service.hasTargets ? NO_PORT : this.#findAtEndpoints(service, number, found);
  }

  /**
   * Clients reach the endpoints of a headless service without the service's ports.
   *
   * @returns `port` if all of them have a TCP port of this number
   */
  #findAtEndpoints(service: ServiceFields, number: number, port: number): number {
    const { walk } = this.#context;
    const endpoints = this.#endpoints;
    let isOpen = false;
    let isClosed = false;
    for (walk.begin(service.entry); walk.next(); ) {
      const { section } = walk;
      if (endpoints.ready(section) === 0) continue;
      if (this.#hasPort(endpoints.ports(section), endpoints.portsAt(section), TCP, number)) isOpen = true;
      else isClosed = true;
    }
    if (isOpen && isClosed) return UNCLEAR;
    return isClosed ? NO_PORT : port;
  }

  #hasPort(ports: number, first: number, protocol: number, number: number): boolean {
    const octets = this.#octets;
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at))
      if (readPortProtocol(octets, at) === protocol && portNumber(octets, at) === number) return true;
    return false;
  }

  /** The number of a label `_8443`, or -1. @param at where it begins, with its length */
  #readNumber(name: Uint8Array, at: number): number {
    const digits = (name[at] ?? 0) - 1;
    if (digits < 1 || digits > MAX_DIGITS || name[at + 1] !== UNDERSCORE || name[at + 2] === ZERO) return -1;
    let number = 0;
    for (let index = at + 2; index < at + 2 + digits; index++) {
      const digit = (name[index] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) return -1;
      number = number * 10 + digit;
    }
    return number;
  }

  /** In ascending order of their keys (RFC 9460 section 2.2). @param at the octet of the port */
  #writeParameters(service: ServiceFields, at: number, namesPort: boolean): void {
    const bits = this.#octets[at + PORT.PROTOCOL] ?? 0;
    const number = portNumber(this.#octets, at);
    const isCluster = service.kind === SERVICE_KIND.CLUSTER;
    // QUIC needs a UDP port of the same number.
    const hasUdp = this.#hasPort(service.ports, service.portsAt, UDP, number);
    const hasH3 = isCluster && hasUdp && (bits & APP_PROTOCOL.H3) !== 0;
    const hasH2 = (bits & APP_PROTOCOL.H2) !== 0;
    this.#length = 0;
    if (hasH2 || hasH3) this.#writeHead(KEY.ALPN, (hasH2 ? H2.length : 0) + (hasH3 ? H3.length : 0));
    if (hasH2) this.#append(H2, 0, H2.length);
    if (hasH3) this.#append(H3, 0, H3.length);
    if (namesPort) {
      this.#writeHead(KEY.PORT, 2);
      this.#view.setUint16(this.#length, number);
      this.#length += 2;
    }
    if (isCluster) this.#writeHints(service);
  }

  #writeHints(service: ServiceFields): void {
    const { atoms, octets } = this.#context.views;
    if (service.ipv4 > 0 && !this.#context.lacksAddresses(TYPE.A)) {
      this.#writeHead(KEY.IPV4HINT, service.ipv4 * 4);
      for (let index = 0; index < service.ipv4; index++) {
        this.#view.setInt32(this.#length, atoms[(service.ipv4At >> 2) + index] ?? 0);
        this.#length += 4;
      }
    }
    if (service.ipv6 === 0 || this.#context.lacksAddresses(TYPE.AAAA)) return;
    this.#writeHead(KEY.IPV6HINT, service.ipv6 * 16);
    this.#append(octets, service.ipv6At, service.ipv6 * 16);
  }

  #writeHead(key: number, length: number): void {
    this.#view.setUint16(this.#length, key);
    this.#view.setUint16(this.#length + 2, length);
    this.#length += 4;
  }

  #append(from: Uint8Array, at: number, length: number): void {
    for (let index = 0; index < length; index++)
      this.#parameters[this.#length + index] = from[at + index] ?? 0;
    this.#length += length;
  }
}
