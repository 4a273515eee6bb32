/**
 * The upstream servers of a resolv.conf (resolv.conf(5)). Of its lines only `nameserver` matters to a server.
 *
 * systemd-resolved writes its own stub there, 127.0.0.53. A pod cannot reach that, and to ask it is to ask a cache before the
 * servers that it knows itself; those stand in a second file.
 */
import { ItemFault, readItem } from '../base/item-fence.ts';
import { parseScopedAddress, type UpstreamAddress } from './upstream-address.ts';

export interface ResolvConfProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface ResolvConf {
  readonly servers: readonly UpstreamAddress[];
  /** Lines that name no usable server; they are left out. */
  readonly problems: readonly ResolvConfProblem[];
}

/** Where systemd-resolved lists the servers behind its stub. */
const BEHIND_STUB = '/run/systemd/resolve/resolv.conf';
const STUBS: ReadonlySet<string> = new Set(['127.0.0.53', '127.0.0.54']);

/** Reads all servers, not only the three that the C library would use. */
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

/** @returns undefined for a line of another kind. @throws ItemFault for a server without an address */
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
  /** The files whose changes may change the servers. */
  readonly files: readonly string[];
}

/**
 * Reads a file, and if it names only systemd's stub, the servers behind it.
 *
 * @param readFile the text of a file, or undefined where there is none
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
