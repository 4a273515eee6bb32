/**
 * `etcd`: names from the keys of an etcd.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type DirectiveContext,
  fallthroughZones,
  zonesOrBlock,
} from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, LOSSES } from '@portolan/kernel/contract/services.ts';
import type { SnapshotSettings } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import { type EtcdEndpoint, parseEndpoint } from '../../source/client/endpoints.ts';
import type { Credentials, TlsFiles } from '../../source/client/settings.ts';
import type { EtcdOptions } from './options.ts';

const DEFAULT_ENDPOINT = 'http://localhost:2379';
/** Seconds. */
const MIN_LEASE = 30;
const MAX_LEASE = 86_400;
const MAX_TTL = 2 ** 32 - 1;
const MAX_SNAPSHOT_AGE = '24h';

interface EtcdDraft {
  endpoints: readonly EtcdEndpoint[];
  credentials: Credentials | undefined;
  tls: TlsFiles | undefined;
  path: string;
  minLease: number;
  maxLease: number;
  fallthrough: readonly NameKey[];
  aliasesBesideText: boolean;
  snapshot: SnapshotSettings | undefined;
}

/** Source: plugin/etcd of CoreDNS 1.14.7. `alias_beside_text` and `snapshot` are Portolan's own. */
export const etcd = definePlugin({
  name: 'etcd',
  answers: true,
  syntax: [
    'etcd [ZONES…] {',
    '    path PATH',
    '    endpoint URL…',
    '    credentials USERNAME PASSWORD',
    '    tls [CERTIFICATE KEY] [AUTHORITIES]',
    '    min-lease-ttl DURATION',
    '    max-lease-ttl DURATION',
    '    fallthrough [ZONES…]',
    '    alias_beside_text on|off',
    '    snapshot FILE [MAX_AGE]',
    '}',
  ],
  read(cursor, context): EtcdOptions {
    const endpoint = parseEndpoint(DEFAULT_ENDPOINT);
    const draft: EtcdDraft = {
      endpoints: endpoint === undefined ? [] : [endpoint],
      credentials: undefined,
      tls: undefined,
      path: 'skydns',
      minLease: MIN_LEASE,
      maxLease: MAX_LEASE,
      fallthrough: [],
      aliasesBesideText: true,
      snapshot: undefined,
    };
    let zones: readonly NameKey[] = [];
    cursor.firstUse(() => {
      zones = zonesOrBlock(cursor.remainingArguments(), context);
      readProperties(cursor, draft, context);
    });
    const { endpoints, credentials, tls, ...rest } = draft;
    return {
      kind: 'coredns',
      zones,
      etcd: { endpoints, ...(credentials && { credentials }), ...(tls && { tls }) },
      ...rest,
    };
  },
  outlivesPlans: ({ kind }) => kind === 'skydns',
  async load() {
    const { EtcdPlugin } = await import('./etcd-plugin.ts');
    return {
      create(options, context, former) {
        const isOfSkyDns = options.kind === 'skydns';
        const { chain, lookUp, use } = context;
        const parts = {
          ...context,
          lookUp: isOfSkyDns ? chain : lookUp,
          table: use(ANSWER_TABLE),
          losses: use(LOSSES),
        };
        return new EtcdPlugin(options, parts, isOfSkyDns ? ofKind(EtcdPlugin, former) : undefined);
      },
    };
  },
});

function readProperties(cursor: DirectiveCursor, draft: EtcdDraft, context: DirectiveContext): void {
  const ignored = (name: string) => () => {
    cursor.remainingArguments();
    cursor.warn(`"${name}" has no effect. Take it out.`);
  };
  cursor.properties({
    path: () => {
      draft.path = cursor.requiredArgument();
    },
    endpoint: () => {
      draft.endpoints = [cursor.requiredArgument(), ...cursor.remainingArguments()].map((text) =>
        readEndpoint(cursor, text),
      );
    },
    credentials: () => {
      draft.credentials = readCredentials(cursor);
    },
    tls: () => {
      draft.tls = readTls(cursor, context);
    },
    'min-lease-ttl': () => {
      draft.minLease = readLease(cursor, 'min-lease-ttl') || MIN_LEASE;
    },
    'max-lease-ttl': () => {
      draft.maxLease = readLease(cursor, 'max-lease-ttl') || MAX_LEASE;
    },
    fallthrough: () => {
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
    },
    alias_beside_text: () => {
      draft.aliasesBesideText = readSwitch(cursor);
    },
    snapshot: () => {
      draft.snapshot = readSnapshot(cursor, context);
    },
    stubzones: ignored('stubzones'),
    upstream: ignored('upstream'),
    debug: ignored('debug'),
  });
}

function readEndpoint(cursor: DirectiveCursor, text: string): EtcdEndpoint {
  const endpoint = parseEndpoint(text);
  if (endpoint === undefined)
    throw cursor.error(`invalid endpoint '${text}'`, 'Give a URL such as http://192.0.2.1:2379.');
  return endpoint;
}

function readCredentials(cursor: DirectiveCursor): Credentials | undefined {
  const [username = '', password = '', ...more] = [cursor.requiredArgument(), ...cursor.remainingArguments()];
  if (password === '' || more.length > 0)
    throw cursor.error('credentials requires 2 arguments, username and password', 'Give both.');
  return username === '' ? undefined : { username, password };
}

function readTls(cursor: DirectiveCursor, context: DirectiveContext): TlsFiles {
  const words = cursor.remainingArguments();
  if (words.length > 3)
    throw cursor.bareError(
      `maximum of three arguments allowed for TLS config, found ${words.length}`,
      'Give a certificate, its key, and the file of the authorities.',
    );
  return toTlsFiles(words.map((path) => context.resolve(path)));
}

/** Empty, the authorities, a certificate with its key, or all of them. */
function toTlsFiles([first, second, third]: readonly string[]): TlsFiles {
  if (first === undefined) return {};
  if (second === undefined) return { authority: first };
  return { certificate: first, key: second, ...(third !== undefined && { authority: third }) };
}

/** A number without a unit is in seconds. */
function readLease(cursor: DirectiveCursor, name: string): number {
  const text = cursor.requiredArgument();
  const remedy = 'Give a duration such as 30s, 5m or 1h.';
  const refuse = (fault: string) => cursor.error(`invalid ${name} value: ${fault}`, remedy);
  const duration = parseGoDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (duration.kind === 'bad')
    throw refuse("invalid TTL format, use format like '30', '30s', '5m', '1h', or '2h30m'");
  const seconds = Math.trunc(duration.value / 1000);
  if (duration.value < 0) throw refuse('TTL must be non-negative');
  if (seconds > MAX_TTL) throw refuse('TTL too large, maximum is 4294967295 seconds');
  return seconds;
}

function readSwitch(cursor: DirectiveCursor): boolean {
  const word = cursor.requiredArgument();
  if (word !== 'on' && word !== 'off') throw cursor.error(`neither on nor off: '${word}'`, 'Give on or off.');
  return word === 'on';
}

function readSnapshot(cursor: DirectiveCursor, context: DirectiveContext): SnapshotSettings {
  const [file = '', age = MAX_SNAPSHOT_AGE, ...more] = [
    cursor.requiredArgument(),
    ...cursor.remainingArguments(),
  ];
  const duration = parseGoDuration(age);
  if (duration.kind === 'bad' || duration.value < 0 || more.length > 0)
    throw cursor.error(
      'snapshot takes a file and a maximum age',
      'Give them as in: snapshot /var/lib/etcd-names 24h',
    );
  return { file: context.resolve(file), maxAge: duration.value, maxAgeName: 'snapshot of plugin/etcd' };
}
