/**
 * The application protocols of the ports of a service: `appProtocol`, and the annotation with the versions of HTTP.
 */
import { APP_PROTOCOL } from '@portolan/kernel/records/layout.ts';
import type { AppProtocol, HttpVersion } from '../objects/objects.ts';

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
export function parseAppProtocol(
  appProtocol: string | undefined,
  alpn: string | undefined,
): AppProtocol | undefined {
  const kind = APP_PROTOCOLS.get(appProtocol?.toLowerCase() ?? '');
  if (kind === undefined) return undefined;
  const words = alpn?.split(',').map((word) => word.trim()) ?? [];
  if (kind === 'plain' || words.includes('none')) return { kind: 'plain' };
  return { kind, versions: VERSIONS.filter((version) => words.includes(version)) };
}

const VERSIONS: readonly HttpVersion[] = ['h2', 'h3'];

/** @returns of `APP_PROTOCOL`, 0: not known */
export function encodeAppProtocol(appProtocol: AppProtocol | undefined): number {
  if (appProtocol === undefined) return 0;
  if (appProtocol.kind === 'plain') return APP_PROTOCOL.PLAIN;
  const { versions } = appProtocol;
  return (
    APP_PROTOCOL.HTTPS |
    (versions.includes('h2') ? APP_PROTOCOL.H2 : 0) |
    (versions.includes('h3') ? APP_PROTOCOL.H3 : 0)
  );
}

/** @param bits of `APP_PROTOCOL`, with others */
export function decodeAppProtocol(bits: number): AppProtocol | undefined {
  if ((bits & APP_PROTOCOL.PLAIN) !== 0) return { kind: 'plain' };
  if ((bits & APP_PROTOCOL.HTTPS) === 0) return undefined;
  return {
    kind: 'https',
    versions: VERSIONS.filter((_, index) => (bits & (APP_PROTOCOL.H2 << index)) !== 0),
  };
}
