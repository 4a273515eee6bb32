/**
 * The servers behind a `forward`: addresses, names, and files in the form of resolv.conf.
 */
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { isAddress, splitAddress } from '@portolan/corefile/directive/go-values.ts';
import { isDomainName, splitScheme } from '@portolan/corefile/keys/zone-name.ts';
import type { ForwardScheme, ForwardUpstream } from './options.ts';

const PORTS: Readonly<Record<ForwardScheme, number>> = { dns: 53, tls: 853, https: 443 };

/**
 * @param serverName That of `tls_servername`.
 * @throws DirectiveError
 */
export function readUpstreams(
  words: readonly string[],
  serverName: string | undefined,
  cursor: DirectiveCursor,
  context: DirectiveContext,
): readonly ForwardUpstream[] {
  for (const word of words) {
    const { scheme, rest } = splitScheme(word);
    if (scheme === 'https' && rest.includes('/'))
      throw cursor.bareError(
        `paths are not allowed in HTTPS upstream addresses (the /dns-query path is used by default): ${word}`,
        'Take the path out.',
      );
  }
  const upstreams = words.flatMap((word) => readUpstream(word, cursor, context));
  if (upstreams.length === 0)
    throw cursor.bareError(
      'no valid upstream addresses found',
      'Add a line "nameserver ADDRESS" to the file.',
    );
  for (const upstream of upstreams) checkServerName(upstream, serverName, cursor);
  return withoutRepetitions(upstreams);
}

function readUpstream(
  word: string,
  cursor: DirectiveCursor,
  context: DirectiveContext,
): readonly ForwardUpstream[] {
  const { host: text, zone } = splitServerName(word);
  const { scheme, rest } = splitScheme(text);
  const split = splitAddress(rest);
  const host = split.kind === 'good' ? split.value.host : rest.replace(/^\[|\]$/g, '');
  if (rest === '') throw cursor.bareError(`invalid address: ${JSON.stringify(word)}`, 'Give an address.');
  if (isAddress(host))
    return [readAddress(word, host, split.kind === 'good' ? split.value.port : '', zone, cursor)];
  const path = splitScheme(word).rest;
  if (context.files.findKind(path) === 'file')
    return hasNameservers(path, context) ? [{ kind: 'file', path }] : [];
  return [readName(word, scheme, host, split.kind === 'good' ? split.value.port : '', zone, cursor)];
}

/** `ADDRESS%NAME:PORT`: the part between the last per cent sign and the port, and the text without it. */
function splitServerName(word: string): { host: string; zone: string | undefined } {
  const [, before, zone, port = ''] = /^(.*)%([^%:\]]*)\]?(:\d+)?$/.exec(word) ?? [];
  if (before === undefined || zone === undefined) return { host: word, zone: undefined };
  const isBracketed = /(?:^|\/)\[[^\]]*$/.test(before);
  return { host: `${before}${isBracketed ? ']' : ''}${port}`, zone };
}

function readAddress(
  word: string,
  address: string,
  portText: string,
  zone: string | undefined,
  cursor: DirectiveCursor,
): ForwardUpstream {
  const scheme = forwardScheme(word, cursor);
  const port = portText === '' ? PORTS[scheme] : readPort(word, portText, cursor);
  // For TLS the word behind the per cent sign names the server, else the interface of a link-local address.
  if (scheme !== 'dns') return { kind: 'address', scheme, address, port, serverName: zone };
  return {
    kind: 'address',
    scheme,
    address: zone === undefined ? address : `${address}%${zone}`,
    port,
    serverName: undefined,
  };
}

/** CoreDNS accepts any port; with a bad one every query fails. */
function readPort(word: string, text: string, cursor: DirectiveCursor): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  cursor.warn(`${JSON.stringify(text)} in ${word} is no port, so every query to this server fails.`);
  return 0;
}

function forwardScheme(word: string, cursor: DirectiveCursor): ForwardScheme {
  const { scheme, rest } = splitScheme(word);
  if (scheme === 'dns' || scheme === 'tls' || scheme === 'https') return scheme;
  const port = scheme === 'quic' ? 853 : 443;
  const shown = splitAddress(rest).kind === 'good' ? word : `${word}:${port}`;
  throw cursor.bareError(
    `'${scheme}' is not supported as a destination protocol in forward: ${shown}`,
    'Use dns://, tls:// or https://.',
  );
}

function readName(
  word: string,
  scheme: string,
  host: string,
  portText: string,
  zone: string | undefined,
  cursor: DirectiveCursor,
): ForwardUpstream {
  const isScheme = scheme === 'dns' || scheme === 'tls' || scheme === 'https';
  if (!isScheme || host === '' || !isDomainName(host))
    throw cursor.bareError(
      `not an IP address, file, or valid domain: ${JSON.stringify(word)}`,
      'Give an address, as in 192.0.2.1:53 or tls://192.0.2.1.',
    );
  // Such a name cannot be resolved: the last label of a name is never a number (RFC 3696 section 2), and a path is not a name.
  if (/(?:^|\.)\d+$/.test(host) || host.includes('/') || splitScheme(word).rest.includes('://'))
    throw cursor.bareError(
      `failed to resolve ${JSON.stringify(host)}: lookup ${host}: no such host`,
      host.includes('/')
        ? 'There is no such file.'
        : 'Give an address, as in 192.0.2.1:53 or tls://192.0.2.1.',
    );
  const port = portText === '' ? PORTS[scheme] : readPort(word, portText, cursor);
  return { kind: 'name', scheme, name: host, port, serverName: zone };
}

function hasNameservers(path: string, { files }: DirectiveContext): boolean {
  try {
    return /^nameserver\s+\S/m.test(files.read(path));
  } catch {
    // The file may become readable, for example if it is mounted late.
    return true;
  }
}

function checkServerName(
  upstream: ForwardUpstream,
  serverName: string | undefined,
  cursor: DirectiveCursor,
): void {
  if (upstream.kind === 'file' || upstream.scheme !== 'tls') return;
  if (serverName === undefined || upstream.serverName === undefined) return;
  const host = upstream.kind === 'address' ? upstream.address : upstream.name;
  throw cursor.bareError(
    `both forward ('${serverName}') and proxy level ('${upstream.serverName}') TLS servernames are set for upstream proxy 'tls://${host}:${upstream.port}'`,
    'Take one of the two out.',
  );
}

/** The first of equal servers counts. */
function withoutRepetitions(upstreams: readonly ForwardUpstream[]): readonly ForwardUpstream[] {
  const seen = new Set<string>();
  return upstreams.filter((upstream) => {
    if (upstream.kind === 'file') return true;
    const key = `${upstream.kind === 'address' ? upstream.address : upstream.name} ${upstream.port}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
