/**
 * The upstream servers of a resolv.conf, and its search domains (resolv.conf(5)).
 *
 * systemd-resolved writes its own stub there, 127.0.0.53. A pod cannot reach the stub, and elsewhere it would be a
 * second cache in front of the real servers, which a second file lists.
 */
import { ItemFault, readItem } from '../base/item-guard.ts';
import { parseScopedAddress, type UpstreamAddress } from './upstream-address.ts';

export interface ResolvConfProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface ResolvConf {
  readonly servers: readonly UpstreamAddress[];
  /** Lines without a usable server; they are skipped. */
  readonly problems: readonly ResolvConfProblem[];
}

/** Where systemd-resolved lists the servers behind its stub. */
const BEHIND_STUB = '/run/systemd/resolve/resolv.conf';
const STUBS: ReadonlySet<string> = new Set(['127.0.0.53', '127.0.0.54']);

/** Reads all servers, while the C library uses only three. */
export function parseResolvConf(text: string): ResolvConf {
  const servers: UpstreamAddress[] = [];
  const problems: ResolvConfProblem[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const reading = readItem(() => readServer(line));
    if (reading.kind === 'rejected') problems.push({ line: index + 1, message: reading.problem });
    else if (reading.result !== undefined) servers.push(reading.result);
  }
  return { servers, problems };
}

/** @returns undefined for other lines. @throws ItemFault for a server without an address */
function readServer(line: string): UpstreamAddress | undefined {
  const [keyword, value = ''] = line
    .replace(/[#;].*$/, '')
    .trim()
    .split(/\s+/);
  if (keyword !== 'nameserver') return undefined;
  const address = parseScopedAddress(value);
  if (address === undefined) throw new ItemFault('malformed', `not an IP address: ${JSON.stringify(value)}`);
  return plainServer(address);
}

/** The search domains as they are written, in order: those of the last line that has any. */
export function parseSearchDomains(text: string): readonly string[] {
  let domains: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    if (keyword === 'search') domains = words;
    else if (keyword === 'domain') domains = words.slice(0, 1);
  }
  return domains;
}

function plainServer(address: string): UpstreamAddress {
  return {
    transport: 'udp',
    host: { kind: 'address', address },
    port: 53,
    serverName: undefined,
    source: undefined,
  };
}

export interface FollowedResolvConf extends ResolvConf {
  /** The files to watch for changes of the servers. */
  readonly files: readonly string[];
}

/**
 * Reads a file, and the servers behind systemd's stub if the file names only the stub.
 *
 * @param readFile returns the text of a file, or undefined if it does not exist
 */
export function readResolvConf(
  path: string,
  readFile: (path: string) => string | undefined,
): FollowedResolvConf {
  const own = parseResolvConf(readFile(path) ?? '');
  const isStub =
    own.servers.length > 0 &&
    own.servers.every(({ host }) => host.kind === 'address' && STUBS.has(host.address));
  if (!isStub || path === BEHIND_STUB) return { ...own, files: [path] };
  const files = [path, BEHIND_STUB];
  const behind = parseResolvConf(readFile(BEHIND_STUB) ?? '');
  return behind.servers.length > 0 ? { ...behind, files } : { ...own, files };
}
