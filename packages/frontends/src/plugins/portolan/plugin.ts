/**
 * `portolan`: features that CoreDNS does not have, for the plugins of its server block.
 */
import { isIP } from 'node:net';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { Draft } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseCidr, parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { isLabelKey } from '@portolan/corefile/directive/label-selector.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { ROOT, tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { AdmissionLimits } from '@portolan/kernel/forward/admission/admission.ts';
import { ACCESS_ACTIONS, type AccessRule, type ClientRules } from '@portolan/kernel/listen/client-rules.ts';
import type { KubernetesSnapshot } from '@portolan/kubernetes/plugins/kubernetes/options.ts';
import { TENANT_RULE, type TenantRules } from '@portolan/kubernetes/publish/tenant-rules.ts';
import { type CacheServeStale, RFC_8767 } from '@portolan/plugins/cache/options.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import { readNftsetRule } from '@portolan/plugins/nftset/read-sets.ts';
import type { PortolanOptions } from './options.ts';

const DAY = 86_400_000;
const MAX_NUMBER = 1_000_000;
const DURATION_REMEDY = 'Give a duration such as 30s or 1h.';

const NO_RULES: ClientRules = {
  access: [],
  queryRate: undefined,
  responseRate: undefined,
  slip: 2,
  prefixLengths: { ipv4: 32, ipv6: 128 },
};

export const portolan = definePlugin({
  name: 'portolan',
  before: 'timeouts',
  syntax: [
    'portolan {',
    '    snapshot FILE [MAX_AGE]',
    '    endpoint_ranges [nodes] [PREFIX…]',
    '    prefer_zone [NODE]',
    '    clients allow|refuse|drop PREFIX…',
    '    rate queries|responses NUMBER',
    '    rate slip NUMBER',
    '    rate prefix IPV4_BITS IPV6_BITS',
    '    admission client|total|queued NUMBER',
    '    prefetch',
    '    stale [DURATION [WAIT]]',
    '    hedge on|off',
    '    drain DURATION',
    '    stats',
    '    query_log [SETTING=VALUE…]',
    '    sudden_loss on|off|SETTING=VALUE…',
    '    history off|SETTING=VALUE…',
    '    discovery [NAME]',
    '    https_records',
    '    nftset [closed] "/DOMAIN[/DOMAIN…]/SET[,SET…]"',
    '    tenants by-namespace-label LABEL [seen-by PREFIX…]',
    '}',
  ],
  read(cursor): PortolanOptions {
    const draft: Draft<PortolanOptions> = {
      snapshot: undefined,
      endpointRanges: undefined,
      learnsRanges: false,
      preferZone: undefined,
      clients: undefined,
      admission: {},
      prefetch: false,
      stale: undefined,
      hedges: undefined,
      drain: undefined,
      stats: false,
      queryLog: undefined,
      suddenLoss: undefined,
      history: undefined,
      discovery: undefined,
      httpsRecords: false,
      nftset: [],
      tenants: undefined,
    };
    cursor.onlyUse(() => {
      if (cursor.remainingArguments().length > 0)
        throw cursor.argumentError('Write the features into its block, one in each line.');
      readFeatures(cursor, draft);
    });
    return draft;
  },
});

function readFeatures(cursor: DirectiveCursor, draft: Draft<PortolanOptions>): void {
  const rules: Draft<ClientRules> = { ...NO_RULES };
  let features = 0;
  const count = (read: () => void) => () => {
    features += 1;
    read();
  };
  cursor.properties({
    snapshot: count(() => {
      draft.snapshot = readSnapshot(cursor);
    }),
    endpoint_ranges: count(() => readEndpointRanges(cursor, draft)),
    prefer_zone: count(() => {
      const [node] = cursor.remainingBetween(0, 1);
      draft.preferZone = { node };
    }),
    clients: count(() => {
      rules.access = [...rules.access, ...readAccess(cursor)];
      draft.clients = rules;
    }),
    rate: count(() => {
      readRate(cursor, rules);
      draft.clients = rules;
    }),
    admission: count(() => {
      draft.admission = { ...draft.admission, ...readAdmission(cursor) };
    }),
    prefetch: count(() => {
      cursor.remainingBetween(0, 0);
      draft.prefetch = true;
    }),
    stale: count(() => {
      draft.stale = readStale(cursor);
    }),
    hedge: count(() => {
      draft.hedges = readHedging(cursor);
    }),
    drain: count(() => {
      const [text = ''] = cursor.remainingBetween(1, 1);
      draft.drain = readDuration(cursor, text);
    }),
    stats: count(() => {
      cursor.remainingBetween(0, 0);
      draft.stats = true;
    }),
    query_log: count(() => {
      draft.queryLog = cursor.remainingArguments();
    }),
    sudden_loss: count(() => {
      draft.suddenLoss = cursor.remainingArguments();
    }),
    history: count(() => {
      draft.history = cursor.remainingArguments();
    }),
    https_records: count(() => {
      cursor.remainingBetween(0, 0);
      draft.httpsRecords = true;
    }),
    nftset: count(() => {
      draft.nftset = [...draft.nftset, readSets(cursor)];
    }),
    tenants: count(() => {
      draft.tenants = readTenants(cursor);
    }),
    discovery: count(() => {
      draft.discovery = { name: readOwnName(cursor) };
    }),
  });
  if (features === 0) throw cursor.error('no feature', 'Write snapshot, clients, stale, … into its block.');
}

function readSnapshot(cursor: DirectiveCursor): KubernetesSnapshot {
  const [file = '', age] = cursor.remainingBetween(1, 2);
  return { file, maxAge: age === undefined ? DAY : readDuration(cursor, age) };
}

/** `nodes` stands for what the nodes of the cluster say. */
function readEndpointRanges(cursor: DirectiveCursor, draft: Draft<PortolanOptions>): void {
  const words = cursor.remainingArguments();
  const prefixes = words.filter((word) => word !== 'nodes');
  if (prefixes.length < words.length) draft.learnsRanges = true;
  if (prefixes.length > 0 || words.length === 0)
    draft.endpointRanges = [...(draft.endpointRanges ?? []), ...readPrefixes(cursor, prefixes)];
}

function readTenants(cursor: DirectiveCursor): TenantRules {
  const [rule = '', label = '', word, ...prefixes] = cursor.remainingArguments();
  const remedy = 'Write it as in tenants by-namespace-label team.';
  if (rule !== TENANT_RULE) throw cursor.error(`tenants: unknown rule: '${rule}'`, remedy);
  if (!isLabelKey(label)) throw cursor.error(`tenants: not a label: '${label}'`, remedy);
  if (word === undefined) return { label, seenBy: [] };
  if (word !== 'seen-by')
    throw cursor.error(`tenants: unknown word: '${word}'`, 'Write seen-by before the clients that see all.');
  return { label, seenBy: readPrefixes(cursor, prefixes) };
}

function readAccess(cursor: DirectiveCursor): readonly AccessRule[] {
  const [word = '', ...prefixes] = cursor.remainingArguments();
  const action = ACCESS_ACTIONS.find((each) => each === word);
  if (action === undefined)
    throw cursor.error(`unknown action '${word}'`, `Known here: ${ACCESS_ACTIONS.join(', ')}.`);
  return readPrefixes(cursor, prefixes).map((clients) => ({ clients, action }));
}

function readPrefixes(cursor: DirectiveCursor, prefixes: readonly string[]): readonly AddressRange[] {
  if (prefixes.length === 0) throw cursor.argumentError('Give addresses, or prefixes as in 10.0.0.0/8.');
  return prefixes.map((prefix) => {
    const text = prefix.includes('/') ? prefix : `${prefix}/${prefix.includes(':') ? 128 : 32}`;
    const range = parseCidr(text);
    if (range.kind === 'bad')
      throw cursor.error(`not a prefix: '${prefix}'`, 'Give an address, or a prefix as in 10.0.0.0/8.');
    return range.value;
  });
}

function readRate(cursor: DirectiveCursor, rules: Draft<ClientRules>): void {
  const [what = '', first = '', second] = cursor.remainingBetween(2, 3);
  const isPair = what === 'prefix';
  if ((second !== undefined) !== isPair)
    throw cursor.argumentError('Write rate queries 100, rate slip 2 or rate prefix 24 56.');
  switch (what) {
    case 'queries':
      rules.queryRate = readNumber(cursor, first, 1, MAX_NUMBER);
      break;
    case 'responses':
      rules.responseRate = readNumber(cursor, first, 1, MAX_NUMBER);
      break;
    case 'slip':
      rules.slip = readNumber(cursor, first, 0, 10);
      break;
    case 'prefix':
      rules.prefixLengths = {
        ipv4: readNumber(cursor, first, 0, 32),
        ipv6: readNumber(cursor, second ?? '', 0, 128),
      };
      break;
    default:
      throw cursor.error(`unknown rate '${what}'`, 'Known here: queries, responses, slip, prefix.');
  }
}

const BOUNDS: ReadonlyMap<string, keyof AdmissionLimits> = new Map([
  ['client', 'perClient'],
  ['total', 'inFlight'],
  ['queued', 'queued'],
]);

function readAdmission(cursor: DirectiveCursor): Partial<AdmissionLimits> {
  const [what = '', number = ''] = cursor.remainingBetween(2, 2);
  const bound = BOUNDS.get(what);
  if (bound === undefined)
    throw cursor.error(`unknown bound '${what}'`, `Known here: ${[...BOUNDS.keys()].join(', ')}.`);
  return { [bound]: readNumber(cursor, number, bound === 'queued' ? 0 : 1, MAX_NUMBER) };
}

function readStale(cursor: DirectiveCursor): CacheServeStale {
  const [span, wait] = cursor.remainingBetween(0, 2);
  return {
    ...RFC_8767,
    ...(span !== undefined && { duration: readDuration(cursor, span) }),
    ...(wait !== undefined && { verifyTimeout: readDuration(cursor, wait) }),
  };
}

function readHedging(cursor: DirectiveCursor): boolean {
  const [word = ''] = cursor.remainingBetween(1, 1);
  if (word !== 'on' && word !== 'off')
    throw cursor.error(`not on or off: '${word}'`, 'Write hedge on or hedge off.');
  return word === 'on';
}

function readSets(cursor: DirectiveCursor): NftsetRule {
  const words = cursor.remainingBetween(1, 2);
  const isClosed = words.length === 2;
  if (isClosed && words[0] !== 'closed')
    throw cursor.argumentError('Write nftset [closed] "/example.com/inet#filter#allowed".');
  const rule = readNftsetRule(words.at(-1) ?? '', isClosed);
  if ('fault' in rule)
    throw cursor.error(
      `${rule.fault}: '${rule.value}'`,
      `${rule.remedy} Quote it, since # begins a comment.`,
    );
  return rule;
}

/** The name for clients of encrypted listeners; undefined: those of their certificates. */
function readOwnName(cursor: DirectiveCursor): AbsoluteName | undefined {
  const [text] = cursor.remainingBetween(0, 1);
  if (text === undefined) return undefined;
  const name = tryParseName(text.endsWith('.') ? text : `${text}.`);
  if (name === undefined || name === ROOT || isIP(text) !== 0)
    throw cursor.error(
      `not a host name: '${text}'`,
      'Give a name of the certificate, as in dns.example.com.',
    );
  return name;
}

function readDuration(cursor: DirectiveCursor, text: string): number {
  const duration = parseGoDuration(text);
  if (duration.kind === 'bad') throw cursor.error(duration.fault, DURATION_REMEDY);
  if (duration.value < 0) throw cursor.error(`negative duration '${text}'`, DURATION_REMEDY);
  return duration.value;
}

function readNumber(cursor: DirectiveCursor, text: string, min: number, max: number): number {
  const number = parseInteger(text);
  if (number.kind === 'bad' || number.value < min || number.value > max)
    throw cursor.error(
      `not a number from ${min} to ${max}: '${text}'`,
      `Give a whole number, ${min} to ${max}.`,
    );
  return number.value;
}
