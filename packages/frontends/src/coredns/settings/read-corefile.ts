/**
 * Reads a Corefile to server blocks with plugin options, or to a list of all its problems.
 */
import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import type { OrderProfile } from '@portolan/corefile/coredns-version.ts';
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { checkListeners } from '@portolan/corefile/keys/listen-check.ts';
import { readServerKeys, type ServerKey } from '@portolan/corefile/keys/server-key.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import {
  CorefileFindings,
  type CorefileProblem,
  type CorefileWarning,
  parseError,
} from '@portolan/corefile/syntax/findings.ts';
import { parseBlocks } from '@portolan/corefile/syntax/parser.ts';
import type { BlockNode, DirectiveNode } from '@portolan/corefile/syntax/syntax-tree.ts';
import type { Token } from '@portolan/corefile/syntax/token.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey, ResourceRecord } from '@portolan/dns/types.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';
import { type CorefilePluginName, type CorefileUse, findDefinition } from '../../plugins/registry.ts';
import { extendPlugins } from './extend-plugins.ts';
import { joinBlocks } from './join-blocks.ts';
import { pluginOrder } from './plugin-order.ts';
import { findTraps } from './traps.ts';

export interface CorefileSettings {
  /** The path of the Corefile for messages. */
  readonly file: string;
  /** A file whose directives join the server blocks of the Corefile. Default: no file. */
  readonly extra?: { readonly file: string; readonly text: string } | undefined;
  readonly profile: OrderProfile;
  /** The deviations in which the server does as CoreDNS does. Default: in none. */
  readonly restored?: RestoredDeviations;
  /** The port for keys that have neither port nor scheme. */
  readonly defaultPort: number;
  readonly environment: Environment;
  readonly files: CorefileFiles;
  /** Addresses by interface name; link-local ones carry their zone. */
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
}

export interface ServerBlock {
  /** At least one. */
  readonly keys: readonly ServerKey[];
  /** In query order, each plugin once. */
  readonly plugins: readonly CorefileUse[];
}

export interface GoodCorefile {
  readonly kind: 'good';
  readonly blocks: readonly ServerBlock[];
  /** CoreDNS's digest of the configuration, 128 hexadecimal digits; differs between configurations. */
  readonly digest: string;
  readonly warnings: readonly CorefileWarning[];
}

export type CorefileReading =
  | GoodCorefile
  | {
      readonly kind: 'bad';
      /** As for a good Corefile; undefined if there is a problem in the phase `tokens`. */
      readonly digest: string | undefined;
      /** In the order in which CoreDNS would report them. */
      readonly problems: readonly CorefileProblem[];
      readonly warnings: readonly CorefileWarning[];
    };

export function readCorefile(text: string, settings: CorefileSettings): CorefileReading {
  const findings = new CorefileFindings();
  const order = pluginOrder(settings.profile, settings.restored);
  const nodes = parseCorefile(text, settings, order, findings);
  const digest = digestBlocks(nodes, settings, findings);
  const drafts = nodes.map((node) => ({
    node,
    keys: readServerKeys(node, settings.defaultPort, findings),
    plugins: new Map<CorefilePluginName, CorefileUse>(),
  }));
  for (const name of order) for (const draft of drafts) setUp(name, draft, settings, findings);
  extendPlugins(
    drafts.map(({ plugins }) => plugins),
    settings.restored ?? NOTHING_RESTORED,
    findings,
  );
  const blocks = drafts.map(({ keys, plugins }) => ({ keys, plugins: [...plugins.values()] }));
  checkListeners(
    drafts.map(({ node, keys, plugins }) => {
      const bind = plugins.get('bind');
      const bound = bind?.name === 'bind' ? bind.options.addresses : undefined;
      return { keys, bound, hasView: node.directives.has('view') };
    }),
    findings,
  );
  for (const { keys, plugins } of blocks) {
    checkPartners(plugins, findings);
    checkTransports(keys, plugins, findings);
  }
  findTraps(blocks, settings.files, findings);
  const { problems, warnings } = findings;
  if (problems.length > 0 || digest === undefined) return { kind: 'bad', digest, problems, warnings };
  return { kind: 'good', blocks, digest, warnings };
}

/**
 * The digest that `readCorefile` has of a Corefile, without the work of plugins, which read keys, zones and databases.
 *
 * @returns undefined if there is a problem in the phase `tokens`
 */
export function readDigest(text: string, settings: CorefileSettings): string | undefined {
  const findings = new CorefileFindings();
  const order = pluginOrder(settings.profile, settings.restored);
  const nodes = parseCorefile(text, settings, order, findings);
  return digestBlocks(nodes, settings, findings);
}

/** The blocks of a Corefile, with its imports resolved, and the blocks of `extra` joined to them. */
function parseCorefile(
  text: string,
  settings: CorefileSettings,
  directives: readonly string[],
  findings: CorefileFindings,
): readonly BlockNode[] {
  const parse = (source: string, file = settings.file): readonly BlockNode[] =>
    parseBlocks(source, file, { ...settings, directives }, findings);
  const written = parse(text);
  const isEmpty = written.length === 0 && findings.problems.length === 0;
  const own = isEmpty ? parse(`.:${settings.defaultPort} {\nwhoami\nlog\n}\n`) : written;
  const { extra } = settings;
  return extra === undefined
    ? own
    : joinBlocks(own, parse(extra.text, extra.file), settings.defaultPort, findings);
}

/** @returns undefined if there is a problem in the phase `tokens` */
function digestBlocks(
  nodes: readonly BlockNode[],
  { file }: CorefileSettings,
  { problems }: CorefileFindings,
): string | undefined {
  return problems.some(({ phase }) => phase === 'tokens') ? undefined : computeDigest(nodes, file);
}

/** Refuses plugins that need another one in their block. CoreDNS finds this when it starts. */
function checkPartners(plugins: readonly CorefileUse[], findings: CorefileFindings): void {
  for (const use of plugins) {
    if (use.name === 'secondary') checkKeys(use.options.zones, use, plugins, findings);
    if (use.name === 'transfer') checkKeys(use.options.rules, use, plugins, findings);
  }
  const external = plugins.find(({ name }) => name === 'k8s_external');
  if (external === undefined || plugins.some(({ name }) => name === 'kubernetes')) return;
  findings.problems.push({
    phase: 'set-up',
    message: 'plugin/k8s_external: kubernetes plugin not loaded',
    position: external.position,
    remedy: 'Add kubernetes to this server block, as in kubernetes cluster.local.',
  });
}

/** Refuses plugins that listeners of another kind cannot have. */
function checkTransports(
  keys: readonly ServerKey[],
  plugins: readonly CorefileUse[],
  findings: CorefileFindings,
): void {
  const use = plugins.find(({ name }) => name === 'shed');
  const key = keys.find(({ scheme }) => scheme !== 'dns');
  if (use === undefined || key === undefined) return;
  const { scheme, shown, port } = key;
  const address = JSON.stringify(`${scheme}://${shown}:${port}`);
  findings.problems.push({
    phase: 'set-up',
    message: `plugin/shed: ${parseError(use.position, `only plain DNS server blocks are supported; ${address} uses transport "${scheme}"`)}`,
    position: use.position,
    remedy: 'Take shed out of this server block, or serve the zone without a scheme in a block of its own.',
  });
}

/** Refuses names of keys that no `tsig` of the block has. */
function checkKeys(
  parts: readonly { readonly key?: NameKey | undefined }[],
  { name, position }: CorefileUse,
  plugins: readonly CorefileUse[],
  findings: CorefileFindings,
): void {
  const keys = plugins.flatMap((use) => (use.name === 'tsig' ? use.options.keys : []));
  for (const { key } of parts)
    if (key !== undefined && !keys.some((known) => known.name === key))
      findings.problems.push({
        phase: 'set-up',
        message: `plugin/${name}: unknown key ${JSON.stringify(key)}`,
        position,
        remedy: `Add the key to this server block, as in tsig { secret ${key} SECRET }.`,
      });
}

interface BlockDraft {
  readonly node: BlockNode;
  readonly keys: readonly ServerKey[];
  readonly plugins: Map<CorefilePluginName, CorefileUse>;
}

function setUp(
  name: string,
  { node, keys, plugins }: BlockDraft,
  { files, interfaces }: CorefileSettings,
  findings: CorefileFindings,
): void {
  const directive = node.directives.get(name);
  if (directive === undefined) return;
  const definition = findDefinition(name);
  if (definition === undefined) {
    refuseUnbuilt(directive, findings);
    return;
  }
  const use = plugins.get('root');
  const root = use?.name === 'root' ? use.options.path : undefined;
  const zones = [...new Set(keys.map(({ zone }) => zone))];
  const context: DirectiveContext = {
    // If all keys of a block are wrong, still check its directives.
    zones: zones.length === 0 ? [ROOT] : zones,
    files,
    root,
    interfaces,
    resolve: (path) => (root === undefined || isAbsolute(path) ? path : join(root, path)),
    readRecord: readRecordText,
    readPattern: (text) => new Pattern(text),
  };
  const options = definition.read(new DirectiveCursor(directive, findings), context);
  // The name of a definition determines the type of its options.
  plugins.set(definition.name, { name, definition, options, position: directive.position } as CorefileUse);
}

/** @throws Error with its fault */
function readRecordText(text: string, origin: AbsoluteName): ResourceRecord {
  const record = parseRecord(text, origin);
  if (!('fault' in record)) return record;
  throw new Error(
    `not a record: ${record.word === undefined ? record.fault : `${record.fault}: ${record.word}`}`,
  );
}

const OF_A_CLOUD =
  "Forward the zone to the provider's resolver, as in forward . 169.254.169.253, or keep it in a file of the plugin file.";

/** What to use in place of plugins of CoreDNS that Portolan does not build in. */
const UNBUILT_REMEDIES: ReadonlyMap<string, string> = new Map([
  ...['azure', 'clouddns', 'route53'].map((name) => [name, OF_A_CLOUD] as const),
  ['https3', 'Serve the zone as https://, which is HTTP/2.'],
  ['quic', 'Serve the zone as tls://.'],
  [
    'nomad',
    'Forward the zone to Consul, where Nomad registers its services, as in forward service.consul 127.0.0.1:8600.',
  ],
  ['on', 'Run the commands in an init container, or in a hook of the container.'],
]);

function refuseUnbuilt({ name, position }: DirectiveNode, findings: CorefileFindings): void {
  findings.problems.push({
    phase: 'directives',
    message: `plugin/${name}: not built into Portolan`,
    position,
    remedy:
      UNBUILT_REMEDIES.get(name) ?? 'Take the directive out, or stay with CoreDNS for this server block.',
  });
}

/**
 * The digest that CoreDNS compares, logs and exports for a configuration: SHA-512 of the parsed blocks as JSON. Line numbers count, so
 * adding a comment line changes it; blanks within a line do not.
 *
 * @param file the path of the Corefile; the JSON omits it for the Corefile's own tokens
 * @returns 128 hexadecimal digits
 */
function computeDigest(blocks: readonly BlockNode[], file: string): string {
  const shown = blocks.map(({ keys, directives }) => ({
    Keys: keys.map(({ text }) => text),
    Tokens: Object.fromEntries(
      [...directives]
        .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .map(([name, { tokens }]) => [name, tokens.map((token) => showToken(token, file))]),
    ),
  }));
  return createHash('sha512')
    .update(escapeAsGo(JSON.stringify(shown)))
    .digest('hex');
}

function showToken({ text, position }: Token, file: string) {
  return { File: position.file === file ? '' : position.file, Line: position.line, Text: text };
}

/** Escapes the characters that Go escapes in JSON. */
function escapeAsGo(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
