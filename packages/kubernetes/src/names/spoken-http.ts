/**
 * What is spoken on the ports of a service: `appProtocol`, and the annotation with the versions of HTTP.
 */
import { SPOKEN } from '@portolan/kernel/records/layout.ts';
import type { HttpVersion, SpokenHttp } from '../objects/objects.ts';

/** `h2`, `h3` or both, separated by commas: versions besides HTTP/1.1. `none`: the service has no HTTPS records. */
export const ALPN_ANNOTATION = 'portolan-https/alpn';

/** Values of `appProtocol`, in lower case: names of services at IANA, and those of KEP 3726. */
const APP_PROTOCOLS: ReadonlyMap<string, 'https' | 'plain'> = new Map([
  ['https', 'https'],
  ['kubernetes.io/wss', 'https'],
  ['http', 'plain'],
  ['kubernetes.io/h2c', 'plain'],
  ['kubernetes.io/ws', 'plain'],
]);

/**
 * @param appProtocol of a port; undefined: it has none
 * @param alpn the annotation of its service; undefined: it has none
 * @returns undefined: not known
 */
export function parseSpokenHttp(
  appProtocol: string | undefined,
  alpn: string | undefined,
): SpokenHttp | undefined {
  const kind = APP_PROTOCOLS.get(appProtocol?.toLowerCase() ?? '');
  if (kind === undefined) return undefined;
  const words = alpn?.split(',').map((word) => word.trim()) ?? [];
  if (kind === 'plain' || words.includes('none')) return { kind: 'plain' };
  return { kind, versions: VERSIONS.filter((version) => words.includes(version)) };
}

const VERSIONS: readonly HttpVersion[] = ['h2', 'h3'];

/** @returns of `SPOKEN`, 0: not known */
export function encodeSpoken(spoken: SpokenHttp | undefined): number {
  if (spoken === undefined) return 0;
  if (spoken.kind === 'plain') return SPOKEN.PLAIN;
  const { versions } = spoken;
  return SPOKEN.HTTPS | (versions.includes('h2') ? SPOKEN.H2 : 0) | (versions.includes('h3') ? SPOKEN.H3 : 0);
}

/** @param bits of `SPOKEN`, with others */
export function decodeSpoken(bits: number): SpokenHttp | undefined {
  if ((bits & SPOKEN.PLAIN) !== 0) return { kind: 'plain' };
  if ((bits & SPOKEN.HTTPS) === 0) return undefined;
  return { kind: 'https', versions: VERSIONS.filter((_, index) => (bits & (SPOKEN.H2 << index)) !== 0) };
}
