/**
 * The addresses of the members of an etcd cluster, and the one in use.
 */

export interface EtcdEndpoint {
  readonly secure: boolean;
  /** An address or a host name, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The endpoint as configured. */
  readonly text: string;
}

const DEFAULT_PORT = 2379;

/**
 * `http://HOST[:PORT]`, `https://HOST[:PORT]`, or `HOST:PORT` for a connection without TLS.
 *
 * @returns undefined for anything else
 */
export function parseEndpoint(text: string): EtcdEndpoint | undefined {
  const full = text.includes('://') ? text : `http://${text}`;
  let url: URL;
  try {
    url = new URL(full);
  } catch {
    return undefined;
  }
  const { protocol, hostname, pathname, search, username, hash } = url;
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  if (hostname === '' || username !== '' || search !== '' || hash !== '' || pathname.length > 1)
    return undefined;
  return {
    secure: protocol === 'https:',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: readPort(url, full),
    text,
  };
}

/** A URL omits the default port of its scheme, which is not the default of etcd. */
function readPort({ port, protocol }: URL, text: string): number {
  if (port !== '') return Number(port);
  const usual = protocol === 'https:' ? 443 : 80;
  return new RegExp(`:0*${usual}/?$`).test(text) ? usual : DEFAULT_PORT;
}

/** Rotates over the endpoints from a random start, so that many clients spread over the members. */
export class EndpointRotation {
  readonly #endpoints: readonly EtcdEndpoint[];
  #index: number;

  /** @param endpoints at least one */
  constructor(endpoints: readonly EtcdEndpoint[], random: () => number = Math.random) {
    this.#endpoints = endpoints;
    this.#index = Math.floor(random() * endpoints.length);
  }

  get current(): EtcdEndpoint {
    const endpoint = this.#endpoints[this.#index];
    if (endpoint === undefined) throw new RangeError('no endpoint of etcd is given');
    return endpoint;
  }

  advance(): void {
    this.#index = (this.#index + 1) % this.#endpoints.length;
  }

  get count(): number {
    return this.#endpoints.length;
  }
}
