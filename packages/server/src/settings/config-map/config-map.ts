/**
 * kube-dns's ConfigMap: `stubDomains` and `upstreamNameservers`, each a JSON text, and `federations`, a comma-separated list.
 *
 * The rules are those of kube-dns: any fault makes the whole map invalid.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { Federation } from '@portolan/kubernetes/plugins/federations/federation.ts';
import { readDomain } from '../values/domain.ts';
import { readFederations } from '../values/federations.ts';
import { readNameserver, readStubServer } from '../values/nameservers.ts';
import type { Checked, Problem } from '../values/problem.ts';

export interface KubeDnsConfig {
  readonly stubDomains: readonly StubDomain[];
  /** Replace the nameservers of the machine, unless empty. */
  readonly upstreams: readonly UpstreamAddress[];
  readonly federations: readonly Federation[];
}

export interface StubDomain {
  readonly domain: NameKey;
  readonly servers: readonly UpstreamAddress[];
}

export const CONFIG_KEYS = ['stubDomains', 'upstreamNameservers', 'federations'] as const;
export type ConfigKey = (typeof CONFIG_KEYS)[number];

/** The configuration of a ConfigMap that is missing or has no keys. */
export const EMPTY_CONFIG: KubeDnsConfig = { stubDomains: [], upstreams: [], federations: [] };

/** The C library uses at most so many nameservers of resolv.conf; kube-dns took the limit from there. */
const MAX_UPSTREAMS = 3;

const REMEDY: Readonly<Record<ConfigKey, string>> = {
  stubDomains:
    'Give lists of servers by domain in lower case, as in {"acme.local": ["10.0.0.1", "10.0.0.2:5353"]}.',
  upstreamNameservers: 'Give a list of addresses, as in ["8.8.8.8", "8.8.4.4:53"].',
  federations: 'Give names and their domains, as in myfederation=example.com.',
};

/** Reports all problems, each with its key. */
export function readKubeDnsConfig(texts: ConfigTexts): Checked<KubeDnsConfig> {
  const reading = new ConfigReading(texts);
  const value = {
    stubDomains: reading.stubDomains(),
    upstreams: reading.upstreams(),
    federations: reading.federations(),
  };
  const { problems } = reading;
  return problems.length === 0 ? { kind: 'good', value } : { kind: 'bad', problems };
}

class ConfigReading {
  readonly problems: Problem[] = [];
  readonly #texts: ConfigTexts;

  constructor(texts: ConfigTexts) {
    this.#texts = texts;
  }

  stubDomains(): readonly StubDomain[] {
    const key = 'stubDomains';
    const json = this.#json(key);
    if (json === undefined || json === null) return [];
    if (typeof json !== 'object' || Array.isArray(json)) {
      this.#complain(key, 'not an object', undefined);
      return [];
    }
    return Object.entries(json).flatMap(([name, servers]) => {
      const domain = isDns1123Subdomain(name) ? readDomain(name) : undefined;
      if (domain === undefined) this.#complain(key, 'not a domain', name);
      return domain === undefined ? [] : [{ domain, servers: this.#servers(key, servers, readStubServer) }];
    });
  }

  upstreams(): readonly UpstreamAddress[] {
    const key = 'upstreamNameservers';
    const servers = this.#servers(key, this.#json(key), readNameserver);
    if (servers.length > MAX_UPSTREAMS) {
      const remedy = `Give at most ${MAX_UPSTREAMS}.`;
      this.problems.push({ where: key, fault: 'too many servers', value: String(servers.length), remedy });
    }
    return servers;
  }

  federations(): readonly Federation[] {
    return readFederations('federations', this.#text('federations') ?? '', this.problems);
  }

  #servers(
    key: ConfigKey,
    json: unknown,
    read: (text: string) => UpstreamAddress | undefined,
  ): readonly UpstreamAddress[] {
    if (json === undefined || json === null) return [];
    if (!Array.isArray(json)) {
      this.#complain(key, 'not a list', undefined);
      return [];
    }
    return json.flatMap((text: unknown) => {
      const server = typeof text === 'string' ? read(text) : undefined;
      if (server === undefined) this.#complain(key, 'not a server', show(text));
      return server === undefined ? [] : [server];
    });
  }

  #json(key: ConfigKey): unknown {
    const text = this.#text(key);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      this.#complain(key, 'not JSON', text);
      return undefined;
    }
  }

  #text(key: ConfigKey): string | undefined {
    const value = this.#texts.get(key);
    if (value?.kind !== 'unreadable') return value?.text;
    const remedy = 'See that it is text, and can be read.';
    this.problems.push({ where: key, fault: 'cannot be read', value: value.reason, remedy });
    return undefined;
  }

  #complain(where: ConfigKey, fault: string, value: string | undefined): void {
    this.problems.push({ where, fault, value: value?.slice(0, MAX_SHOWN), remedy: REMEDY[where] });
  }
}

/** Formats a value found instead of a string. Lists and objects are only named: their nesting could overflow the stack. */
function show(json: unknown): string {
  if (typeof json !== 'object' || json === null) return String(json);
  return Array.isArray(json) ? 'a list' : 'an object';
}

/** The most characters of a value in a message; values can be of any length. */
const MAX_SHOWN = 100;
