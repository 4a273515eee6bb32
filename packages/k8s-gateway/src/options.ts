/**
 * The properties of `k8s_gateway`.
 */
import { type Block, fault, type NameKey, readLines, toKey, type Use, type Word } from '@portolan/plugin';

/** The kinds of object that may have names, in the order in which they are looked up unless the Corefile says otherwise. */
export const RESOURCES = [
  ...([
    'HTTPRoute',
    'TLSRoute',
    'GRPCRoute',
    'VirtualServer',
    'Ingress',
    'Service',
    'DNSEndpoint',
    'Node',
  ] as const),
];
export type ResourceName = (typeof RESOURCES)[number];

export interface GatewayOptions {
  /** Lower case, absolute. */
  readonly zones: readonly NameKey[];
  /** Looked up in this order. */
  readonly resources: readonly ResourceName[];
  /** Names of resources that do not exist. They are left out, as in the original. */
  readonly unknownResources: readonly string[];
  /** Empty: all. */
  readonly ingressClasses: readonly string[];
  readonly gatewayClasses: readonly string[];
  /** Services that one of them matches; empty: all. */
  readonly serviceSelectors: readonly string[];
  readonly nodeAddressType: string;
  /** Seconds. */
  readonly ttl: number;
  /** The name of this server below each zone, by default that of its Service: `name.namespace`. */
  readonly apex: string;
  /** The same of another server. */
  readonly secondary: string | undefined;
  readonly kubeconfig: { readonly file: string; readonly context: string | undefined } | undefined;
  /** The zones whose unknown names are passed on. */
  readonly fallthrough: readonly NameKey[];
}

type GatewayDraft = { -readonly [Name in keyof GatewayOptions]: GatewayOptions[Name] };

const MAX_TTL = 3600;
const DEFAULT_RESOURCES: readonly ResourceName[] = ['Ingress', 'Service'];

/** As in the original, the last use counts. */
export function readOptions(uses: readonly Use[], block: Block): GatewayOptions {
  const draft: GatewayDraft = {
    zones: block.zones,
    resources: [],
    unknownResources: [],
    ingressClasses: [],
    gatewayClasses: [],
    serviceSelectors: [],
    nodeAddressType: 'InternalIP',
    ttl: 60,
    apex: 'dns1.kube-system',
    secondary: undefined,
    kubeconfig: undefined,
    fallthrough: [],
  };
  for (const use of uses) {
    draft.zones = use.args.length === 0 ? block.zones : use.args.map(({ text }) => toKey(text));
    readLines(use, makePropertyReaders(draft, block));
  }
  if (draft.resources.length === 0) draft.resources = DEFAULT_RESOURCES;
  return draft;
}

type ReadGatewayProperty = (args: readonly Word[], name: Word) => Partial<GatewayOptions>;

function makePropertyReaders(
  draft: GatewayDraft,
  block: Block,
): ReadonlyMap<string, (args: readonly Word[], name: Word) => void> {
  const readers: readonly (readonly [string, ReadGatewayProperty])[] = [
    ['resources', (args, name) => readResources(texts(args, name))],
    ['ingressClasses', (args, name) => ({ ingressClasses: texts(args, name) })],
    ['gatewayClasses', (args, name) => ({ gatewayClasses: texts(args, name) })],
    [
      'serviceLabelSelectors',
      (args, name) => ({ serviceSelectors: [...draft.serviceSelectors, ...texts(args, name)] }),
    ],
    ['nodeAddressType', (args, name) => ({ nodeAddressType: readAddressType(args, name) })],
    ['ttl', (args, name) => ({ ttl: readTtl(args, name) })],
    ['apex', (args, name) => ({ apex: readApex(args, name) })],
    ['secondary', (args, name) => ({ secondary: readApex(args, name) })],
    ['kubeconfig', (args, name) => readKubeconfig(texts(args, name), block)],
    [
      'fallthrough',
      (args) => ({ fallthrough: args.length === 0 ? [toKey('.')] : args.map(({ text }) => toKey(text)) }),
    ],
  ];
  return new Map(
    readers.map(([property, read]) => [
      property,
      (args, name) => void Object.assign(draft, read(args, name)),
    ]),
  );
}

function readKubeconfig([file = '', context]: readonly string[], block: Block): Partial<GatewayOptions> {
  return { kubeconfig: { file: block.resolve(file), context } };
}

/** @throws a fault without words */
function texts(args: readonly Word[], name: Word): readonly string[] {
  if (args.length > 0) return args.map(({ text }) => text);
  throw fault(
    `Wrong argument count or unexpected line ending after '${name.text}'`,
    name,
    `Give a value behind ${name.text}.`,
  );
}

function readResources(names: readonly string[]): Partial<GatewayOptions> {
  const known = RESOURCES.filter((name) => names.includes(name));
  return {
    resources: known.toSorted((a, b) => names.indexOf(a) - names.indexOf(b)),
    unknownResources: names.filter((name) => !RESOURCES.some((each) => each === name)),
  };
}

function readApex(args: readonly Word[], name: Word): string {
  const [text = ''] = texts(args, name);
  return text.toLowerCase().replace(/\.$/, '');
}

function readTtl(args: readonly Word[], name: Word): number {
  const [text = ''] = texts(args, name);
  const ttl = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (ttl >= 0 && ttl <= MAX_TTL) return ttl;
  throw fault(
    `ttl must be in range [0, ${MAX_TTL}]: ${text}`,
    args[0] ?? name,
    `Give seconds from 0 to ${MAX_TTL}.`,
  );
}

function readAddressType(args: readonly Word[], name: Word): string {
  const [text = ''] = texts(args, name);
  if (text === 'InternalIP' || text === 'ExternalIP') return text;
  throw fault(
    `nodeAddressType must be 'InternalIP' or 'ExternalIP', got: ${text}`,
    args[0] ?? name,
    'Give one of the two.',
  );
}
