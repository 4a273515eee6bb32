/**
 * `dnstap`: queries and responses to collectors, in the format of dnstap.info.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { Draft } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseInteger, splitAddress } from '@portolan/corefile/directive/go-values.ts';
import type { TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { Dnstap } from './dnstap.ts';
import type { DnstapOptions, TapEndpoint, TapOptions } from './options.ts';

const QUEUE = 10_000;
const WRITE_BUFFER = 2 ** 20;
const MAX_BUFFERS = 1024;
const MAX_QUEUES = 4096;
const REMEDY = 'Write dnstap SOCKET [full], as in dnstap /tmp/dnstap.sock full, or tcp://192.0.2.1:6000.';

/**
 * `dnstap [listen] ENDPOINT [full] [WRITEBUFFER] [QUEUE] { identity NAME; version TEXT; extra FORMAT; skipverify; tls CERTIFICATE KEY [CA] }`.
 * Source: plugin/dnstap of CoreDNS 1.14.7.
 */
export const dnstap = definePlugin({
  name: 'dnstap',
  hasSideEffects: true,
  joinsBlocks: true,
  syntax: [
    'dnstap [listen] SOCKET|tcp://ADDRESS|tls://ADDRESS [full] [WRITEBUFFER] [QUEUE] {',
    '    identity NAME',
    '    version TEXT',
    '    extra FORMAT',
    '    skipverify',
    '    tls CERTIFICATE KEY [AUTHORITIES]',
    '}',
  ],
  read(cursor): DnstapOptions {
    const taps: TapOptions[] = [];
    cursor.eachUse(() => {
      taps.push(readTap(cursor));
    });
    return { taps };
  },
  create: (options, context) => new Dnstap(options, context),
});

function readTap(cursor: DirectiveCursor): TapOptions {
  const words = cursor.remainingArguments();
  const isListening = words[0] === 'listen';
  const [place, full, buffers, queues] = isListening ? words.slice(1) : words;
  if (place === undefined)
    throw isListening
      ? cursor.error('dnstap listen requires an endpoint argument', REMEDY)
      : cursor.argumentError(REMEDY);
  const draft: Draft<TapOptions> = {
    endpoint: readEndpoint(cursor, place),
    isFull: full === 'full',
    maxOctets: readMultiple(cursor, buffers, MAX_BUFFERS, WRITE_BUFFER_NAMES) * OCTETS_PER_BUFFER,
    maxQueued: readMultiple(cursor, queues, MAX_QUEUES, QUEUE_NAMES) * QUEUE,
    identity: undefined,
    version: undefined,
    extra: undefined,
  };
  let certificate: TlsOptions | undefined;
  let skips = false;
  cursor.properties({
    identity: () => {
      draft.identity = cursor.requiredArgument();
    },
    version: () => {
      draft.version = cursor.requiredArgument();
    },
    extra: () => {
      draft.extra = cursor.requiredArgument();
    },
    skipverify: () => {
      skips = true;
    },
    tls: () => {
      if (!isListening)
        throw cursor.error('tls directive only valid for listeners', 'Write it with dnstap listen.');
      certificate = readCertificate(cursor);
    },
  });
  const { endpoint } = draft;
  if (isListening)
    return { ...draft, listens: { certificate: certificateFor(endpoint, certificate, skips, cursor) } };
  if (skips && endpoint.kind !== 'unix') draft.endpoint = { ...endpoint, skipsVerification: true };
  return draft;
}

function readCertificate(cursor: DirectiveCursor): TlsOptions {
  const [certificate, key, authorities] = cursor.remainingArguments();
  if (certificate === undefined || key === undefined)
    throw cursor.error('tls requires cert and key file paths', 'Write tls CERTIFICATE KEY [AUTHORITIES].');
  return { certificate, key, authorities, clientAuthentication: 'nocert', keyLog: undefined };
}

/** Collectors show a certificate where authorities are named; with `skipverify` they may show none. */
function certificateFor(
  { kind }: TapEndpoint,
  certificate: TlsOptions | undefined,
  skips: boolean,
  cursor: DirectiveCursor,
): TlsOptions | undefined {
  if (kind !== 'tls') return undefined;
  if (certificate === undefined)
    throw cursor.error('TLS listener requires cert and key files', 'Write tls CERTIFICATE KEY in its block.');
  if (certificate.authorities === undefined) return certificate;
  return { ...certificate, clientAuthentication: skips ? 'verify_if_given' : 'require_and_verify' };
}

/** Messages that wait take much more memory than the kernel's buffer that CoreDNS sets. */
const OCTETS_PER_BUFFER = 16 * WRITE_BUFFER;
const WRITE_BUFFER_NAMES = ['MultipleTcpWriteBuf', 'MiB units'] as const;
const QUEUE_NAMES = ['MultipleQueue', 'x10k messages'] as const;

function readMultiple(
  cursor: DirectiveCursor,
  text: string | undefined,
  max: number,
  [name, unit]: readonly [string, string],
): number {
  if (text === undefined) return 1;
  const multiple = parseInteger(text);
  const remedy = `Give a whole number from 1 to ${max}.`;
  if (multiple.kind === 'bad')
    throw cursor.error(`dnstap: invalid ${name} ${JSON.stringify(text)}: ${multiple.fault}`, remedy);
  if (multiple.value < 1 || multiple.value > max)
    throw cursor.error(`dnstap: ${name} must be between 1 and ${max} (${unit}): ${multiple.value}`, remedy);
  return multiple.value;
}

/** What is no address is the path of a socket, as in CoreDNS. */
function readEndpoint(cursor: DirectiveCursor, text: string): TapEndpoint {
  const [, kind, place = ''] = /^(tcp|tls):\/\/([^/]*)/.exec(text) ?? [];
  if (kind !== 'tcp' && kind !== 'tls') return { kind: 'unix', path: text.replace(/^unix:\/\//, '') };
  const address = splitAddress(place);
  const port = address.kind === 'bad' ? Number.NaN : Number(address.value.port);
  if (address.kind === 'bad' || !Number.isInteger(port) || port < 1 || port > MAX_PORT)
    throw cursor.bareError(`invalid endpoint ${JSON.stringify(text)}`, REMEDY);
  return { kind, host: address.value.host, port, skipsVerification: false };
}

const MAX_PORT = 65_535;
