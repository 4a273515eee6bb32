/**
 * The keys of kube-dns's ConfigMap that say where questions go, each a JSON text: `stubDomains` and `upstreamNameservers`.
 *
 * As in kube-dns the map is taken as a whole or not at all.
 */
import { parseUpstream, type UpstreamAddress, UpstreamAddressError } from '../../forward/upstream-address.ts';
import { NameError, parseName, ROOT, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { Checked, Problem } from '../problem.ts';

export interface KubeDnsServers {
  readonly stubDomains: readonly StubDomain[];
  /** Instead of those of the machine, unless there are none. */
  readonly upstreams: readonly UpstreamAddress[];
}

export interface StubDomain {
  readonly domain: NameKey;
  readonly servers: readonly UpstreamAddress[];
}

export const SERVER_KEYS: readonly string[] = ['stubDomains', 'upstreamNameservers'];

/** As many as the C library takes of a resolv.conf, which is where kube-dns has the bound from. */
const MOST_UPSTREAMS = 3;

/** @param values the texts of the keys; those that are not there are left out */
export function readKubeDnsServers(values: ReadonlyMap<string, string>): Checked<KubeDnsServers> {
  const problems: Problem[] = [];
  const stubDomains = readStubDomains(readJson('stubDomains', values, problems), problems);
  const upstreams = readUpstreams(readJson('upstreamNameservers', values, problems), problems);
  return problems.length === 0
    ? { kind: 'good', value: { stubDomains, upstreams } }
    : { kind: 'bad', problems };
}

function readJson(key: string, values: ReadonlyMap<string, string>, problems: Problem[]): unknown {
  const text = values.get(key);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    problems.push({ where: key, fault: 'not JSON', value: text.slice(0, 100), remedy: REMEDY[key] ?? '' });
    return undefined;
  }
}

const REMEDY: Readonly<Record<string, string>> = {
  stubDomains: 'Give lists of servers by domain, as in {"acme.local": ["10.0.0.1"]}.',
  upstreamNameservers: 'Give a list of servers, as in ["8.8.8.8", "8.8.4.4:53"].',
};

function readStubDomains(json: unknown, problems: Problem[]): readonly StubDomain[] {
  const where = 'stubDomains';
  if (json === undefined || json === null) return [];
  if (typeof json !== 'object' || Array.isArray(json)) {
    problems.push({ where, fault: 'not an object', value: undefined, remedy: REMEDY[where] ?? '' });
    return [];
  }
  return Object.entries(json).flatMap(([name, servers]) => {
    const domain = readDomain(name);
    if (domain === undefined) {
      problems.push({ where, fault: 'not a domain', value: name, remedy: REMEDY[where] ?? '' });
      return [];
    }
    return [{ domain, servers: readServers(where, servers, problems, true) }];
  });
}

function readUpstreams(json: unknown, problems: Problem[]): readonly UpstreamAddress[] {
  const where = 'upstreamNameservers';
  if (json === undefined || json === null) return [];
  const servers = readServers(where, json, problems, false);
  if (servers.length > MOST_UPSTREAMS) {
    const remedy = `Give at most ${MOST_UPSTREAMS}.`;
    problems.push({ where, fault: 'too many servers', value: String(servers.length), remedy });
  }
  return servers;
}

function readDomain(name: string): NameKey | undefined {
  try {
    const domain = toKey(parseName(name));
    return domain === ROOT ? undefined : domain;
  } catch (error) {
    if (error instanceof NameError) return undefined;
    throw error;
  }
}

function readServers(
  where: string,
  json: unknown,
  problems: Problem[],
  mayBeNames: boolean,
): readonly UpstreamAddress[] {
  if (!Array.isArray(json)) {
    problems.push({ where, fault: 'not a list', value: undefined, remedy: REMEDY[where] ?? '' });
    return [];
  }
  return json.flatMap((text: unknown) => {
    const server = typeof text === 'string' ? readServer(text) : undefined;
    if (server !== undefined && (mayBeNames || server.host.kind === 'address')) return [server];
    problems.push({ where, fault: 'not a server', value: String(text), remedy: REMEDY[where] ?? '' });
    return [];
  });
}

/** Plain servers alone: kube-dns knows no other transports, and no sources. */
function readServer(text: string): UpstreamAddress | undefined {
  try {
    const server = parseUpstream(text);
    return server.transport === 'udp' && server.source === undefined ? server : undefined;
  } catch (error) {
    if (error instanceof UpstreamAddressError) return undefined;
    throw error;
  }
}
