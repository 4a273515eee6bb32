/**
 * `--blocks-extra`: plugins in Corefile syntax for the server block of a front end that has no Corefile of its own.
 */
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import type { PluginUse } from '@portolan/kernel/contract/plugin-use.ts';
import { readCorefile, type ServerBlock } from '../../coredns/settings/read-corefile.ts';
import { COREFILE_PLUGINS, type CorefilePluginName } from '../../plugins/registry.ts';

const JOINING: ReadonlySet<CorefilePluginName> = new Set(
  COREFILE_PLUGINS.filter(({ joinsBlocks }) => joinsBlocks).map(({ name }) => name),
);

export interface ExtraSource {
  /** The path for messages. */
  readonly file: string;
  readonly text: string;
  readonly environment: Environment;
  readonly files: CorefileFiles;
}

export type ExtraReading =
  | { readonly kind: 'good'; readonly plugins: readonly PluginUse[] }
  /** Each with its position and remedy. */
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

/** @returns the plugins in query order, or all faults of the file */
export function readExtraPlugins({ file, text, environment, files }: ExtraSource): ExtraReading {
  const settings = {
    file,
    environment,
    files,
    profile: '1.14',
    defaultPort: 53,
    interfaces: new Map(),
  } as const;
  // An empty file adds no plugins; CoreDNS would serve a default server block for it.
  if (text.trim() === '') return { kind: 'good', plugins: [] };
  const reading = readCorefile(text, settings);
  const problems =
    reading.kind === 'bad'
      ? reading.problems.map(({ message, remedy, position }) => placed(file, position?.line, message, remedy))
      : reading.blocks.flatMap((block) => listFaults(file, block));
  if (reading.kind === 'bad' || problems.length > 0) return { kind: 'bad', problems };
  return { kind: 'good', plugins: reading.blocks.flatMap(({ plugins }) => plugins) };
}

function listFaults(file: string, { keys, plugins }: ServerBlock): readonly string[] {
  const line = plugins[0]?.position.line;
  const zones = keys.filter(({ zone }) => zone !== ROOT).map(({ zone }) => zone);
  return [
    ...zones.map((zone) =>
      placed(
        file,
        line,
        `no block of this zone: ${zone}`,
        'Write the block as ". { … }"; the plugins have arguments for their own zones.',
      ),
    ),
    ...plugins
      .filter(({ name }) => !JOINING.has(name))
      .map(({ name, position }) =>
        placed(
          file,
          position.line,
          `plugin cannot join this block: ${name}`,
          `Take it out, or serve a Corefile with "portolan coredns". These can join: ${[...JOINING].join(', ')}.`,
        ),
      ),
  ];
}

function placed(file: string, line: number | undefined, message: string, remedy: string | undefined): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `--blocks-extra: ${place}: ${message}${remedy === undefined ? '' : `\n  ${remedy}`}`;
}
