/**
 * Servers that a sidecar asks, as its flags name them: with their port, or in two flags.
 */
import { parseUpstream, UpstreamAddressError } from '../../forward/upstream-address.ts';
import type { ValueReader } from '../values.ts';
import type { ServerPlace } from './plan.ts';

/** Port 53 where none is given. @returns nothing if it is wrong, and complained of by then */
export function readServer(where: string, text: string, read: ValueReader): ServerPlace | undefined {
  const place = placeOf(text);
  if (place === undefined) {
    const remedy =
      'Give an address or a name, and a port unless it is 53, as in 127.0.0.1:10053 or [::1]:53.';
    read.complain(where, 'not a server', text, remedy);
  }
  return place;
}

/** An address or a name alone. @returns nothing if it is wrong, and complained of by then */
export function readHost(where: string, text: string, read: ValueReader): string | undefined {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  const place = placeOf(bare.includes(':') ? `[${bare}]:53` : `${bare}:53`);
  if (place === undefined)
    read.complain(where, 'not an address or a name', text, 'Give one such as 127.0.0.1 or ::1.');
  return place?.host;
}

function placeOf(text: string): ServerPlace | undefined {
  // A transport or a source is more than a probe can choose.
  if (text.includes('//') || text.includes('@')) return undefined;
  try {
    const { host, port } = parseUpstream(text);
    return { host: host.kind === 'address' ? host.address : host.name.slice(0, -1), port };
  } catch (error) {
    if (error instanceof UpstreamAddressError) return undefined;
    throw error;
  }
}
