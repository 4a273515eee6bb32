/**
 * Reads a Corefile to server blocks with plugin options, or to a list of all its problems.
 */

import type { OrderProfile } from '../../corefile/coredns-version.ts';
import type { DirectiveContext } from '../../corefile/directive/directive.ts';
import { DirectiveCursor } from '../../corefile/directive/directive-cursor.ts';
import { checkListeners } from '../../corefile/keys/listen-check.ts';
import { readServerKeys, type ServerKey } from '../../corefile/keys/server-key.ts';
import type { CorefileFiles } from '../../corefile/syntax/corefile-files.ts';
import type { Environment } from '../../corefile/syntax/environment.ts';
import {
  CorefileFindings,
  type CorefileProblem,
  type CorefileWarning,
} from '../../corefile/syntax/findings.ts';
import { type BlockNode, type DirectiveNode, parseBlocks } from '../../corefile/syntax/parser.ts';
import { type CorefilePluginName, findDefinition, type PluginUse } from '../../plugins/registry.ts';
import { ROOT } from '../../wire/name.ts';
import { digestOf } from './digest.ts';
import { joinBlocks } from './join-blocks.ts';
import { pluginOrder } from './plugin-order.ts';
import { findTraps } from './traps.ts';

export interface CorefileSettings {
  /** The path of the Corefile for messages. */
  readonly file: string;
  /** A file whose directives join the server blocks of the Corefile. Default: no file. */
  readonly extra?: { readonly file: string; readonly text: string } | undefined;
  readonly profile: OrderProfile;
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
  readonly plugins: readonly PluginUse[];
}

export type CorefileReading =
  | {
      readonly kind: 'good';
      readonly blocks: readonly ServerBlock[];
      /** CoreDNS's digest of the configuration, 128 hexadecimal digits; differs between configurations. */
      readonly digest: string;
      readonly warnings: readonly CorefileWarning[];
    }
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
  const order = pluginOrder(settings.profile);
  const parse = (source: string, file = settings.file): readonly BlockNode[] =>
    parseBlocks(source, file, { ...settings, directives: order }, findings);
  const written = parse(text);
  const isEmpty = written.length === 0 && findings.problems.length === 0;
  const own = isEmpty ? parse(`.:${settings.defaultPort} {\nwhoami\nlog\n}\n`) : written;
  const { extra } = settings;
  const nodes =
    extra === undefined
      ? own
      : joinBlocks(own, parse(extra.text, extra.file), settings.defaultPort, findings);
  const drafts = nodes.map((node) => ({
    node,
    keys: readServerKeys(node, settings.defaultPort, findings),
    plugins: new Map<CorefilePluginName, PluginUse>(),
  }));
  for (const name of order) for (const draft of drafts) setUp(name, draft, settings, findings);
  const blocks = drafts.map(({ keys, plugins }) => ({ keys, plugins: [...plugins.values()] }));
  checkListeners(
    drafts.map(({ node, keys, plugins }) => {
      const bind = plugins.get('bind');
      const bound = bind?.name === 'bind' ? bind.options.addresses : undefined;
      return { keys, bound, hasView: node.directives.has('view') };
    }),
    findings,
  );
  findTraps(blocks, settings.files, findings);
  const { problems, warnings } = findings;
  const parses = !problems.some(({ phase }) => phase === 'tokens');
  const digest = parses ? digestOf(nodes, settings.file) : undefined;
  if (problems.length > 0 || digest === undefined) return { kind: 'bad', digest, problems, warnings };
  return { kind: 'good', blocks, digest, warnings };
}

interface Draft {
  readonly node: BlockNode;
  readonly keys: readonly ServerKey[];
  readonly plugins: Map<CorefilePluginName, PluginUse>;
}

function setUp(
  name: string,
  { node, keys, plugins }: Draft,
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
  const root = plugins.get('root');
  const zones = [...new Set(keys.map(({ zone }) => zone))];
  const context: DirectiveContext = {
    // If all keys of a block are wrong, still check its directives.
    zones: zones.length === 0 ? [ROOT] : zones,
    files,
    root: root?.name === 'root' ? root.options.path : undefined,
    interfaces,
  };
  const options = definition.read(new DirectiveCursor(directive, findings), context);
  // The name of a definition determines the type of its options.
  plugins.set(definition.name, { name, options, position: directive.position } as PluginUse);
}

/** Specific remedies for CoreDNS plugins that Portolan does not build in. */
const UNBUILT_REMEDIES: ReadonlyMap<string, string> = new Map([
  ['azure', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['clouddns', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['route53', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['auto', 'Name each zone and its file with the directive file.'],
  ['autopath', 'Take it out: clients then walk their search list themselves.'],
  ['metadata', 'Take it out, together with the labels that stand on it.'],
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
