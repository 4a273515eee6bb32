/**
 * The servers behind a `grpc`: addresses, Unix sockets, and files in the form of resolv.conf.
 */
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { isAddress, splitAddress } from '@portolan/corefile/directive/go-values.ts';
import { splitScheme } from '@portolan/corefile/keys/zone-name.ts';
import { parseResolvConf } from '@portolan/kernel/forward/resolv-conf.ts';
import type { GrpcPlace } from './options.ts';

const UNIX = 'unix://';
/** Of an address without a port, as in CoreDNS. */
const DEFAULT_PORT = 53;
const GRPC_PORT = 443;
const REMEDY = 'Give an address and port, as in 192.0.2.1:443, or unix:///PATH.';

/** @throws DirectiveError */
export function readServers(
  words: readonly string[],
  cursor: DirectiveCursor,
  context: DirectiveContext,
): readonly GrpcPlace[] {
  const servers = words.flatMap((word) => readServer(word, cursor, context));
  if (servers.length === 0)
    throw cursor.bareError('no nameservers found', 'Add a line "nameserver ADDRESS" to the file.');
  return servers;
}

function readServer(word: string, cursor: DirectiveCursor, context: DirectiveContext): readonly GrpcPlace[] {
  if (word.startsWith(UNIX)) {
    const path = word.slice(UNIX.length);
    if (path === '') throw cursor.bareError(`invalid address: ${JSON.stringify(word)}`, REMEDY);
    return [{ kind: 'unix', path }];
  }
  const { scheme, rest } = splitScheme(word);
  if (rest === '') throw cursor.bareError(`invalid address: ${JSON.stringify(word)}`, REMEDY);
  const split = splitAddress(rest);
  const [host, port] =
    split.kind === 'good' ? [split.value.host, split.value.port] : [rest.replace(/^\[|\]$/g, ''), ''];
  if (!isAddress(host.replace(/%.*$/, ''))) return readFile(rest, cursor, context);
  return [{ kind: 'address', address: host, port: readPort(scheme, port, word, cursor) }];
}

/** CoreDNS takes any scheme and port; with others every query fails. */
function readPort(scheme: string, text: string, word: string, cursor: DirectiveCursor): number {
  const isGrpc = scheme === 'grpc';
  if (!isGrpc && scheme !== 'dns') {
    cursor.warn(`grpc asks no server by ${scheme}://, so every query to ${word} fails. Take the scheme out.`);
    return 0;
  }
  if (text === '') return isGrpc ? GRPC_PORT : DEFAULT_PORT;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  cursor.warn(`${JSON.stringify(text)} in ${word} is no port, so every query to this server fails.`);
  return 0;
}

function readFile(path: string, cursor: DirectiveCursor, { files }: DirectiveContext): readonly GrpcPlace[] {
  const what = `not an IP address or file ${JSON.stringify(path)}`;
  if (files.findKind(path) !== 'file') {
    const missing = JSON.stringify(`open ${path}: no such file or directory`);
    throw cursor.bareError(`${what}: failed to open file ${JSON.stringify(path)}: ${missing}`, REMEDY);
  }
  return parseResolvConf(files.read(path)).servers.flatMap(({ host }) =>
    host.kind === 'address' ? [{ kind: 'address', address: host.address, port: DEFAULT_PORT }] : [],
  );
}
