/**
 * Changes a Corefile for another release of CoreDNS, as the migration tool of CoreDNS does, but in place.
 */
import type { Position } from '../syntax/token.ts';
import {
  copyTransfers,
  moveStubs,
  NEW_OPTIONS,
  NEW_PLUGINS,
  OPTION_CHANGES,
  PLUGIN_CHANGES,
  type Severity,
  STUB_RELEASES,
} from './changes.ts';
import { CorefileDraft, type DraftBlock, type DraftSettings } from './draft.ts';
import type { DraftLine } from './draft-line.ts';
import { isWithinRange, knowsOption, knowsPlugin, releasesDown, releasesUp } from './releases.ts';

export interface MigrationSettings extends DraftSettings {
  readonly from: string;
  readonly to: string;
  /** Whether to change plugins and options that still work but are deprecated. */
  readonly deprecations: boolean;
  readonly direction: 'up' | 'down';
}

export interface MigrationNotice {
  /** In the words of CoreDNS's tool. */
  readonly text: string;
  readonly position: Position;
}

export interface Migration {
  /** The Corefile first, then the files that it imports, as they are now and as they should be. */
  readonly files: readonly { readonly path: string; readonly text: string; readonly changed: string }[];
  readonly notices: readonly MigrationNotice[];
}

/**
 * @throws ReleaseError
 * @throws MigrationError
 * @throws BraceError
 */
export function migrateCorefile(text: string, settings: MigrationSettings): Migration {
  const { from, to, direction } = settings;
  const draft = new CorefileDraft(text, settings);
  const notices = new Notices();
  if (direction === 'up')
    for (const release of releasesUp(from, to)) migrateUp(draft, release, settings, notices);
  else for (const release of releasesDown(from, to)) migrateDown(draft, release, notices);
  return { files: draft.files, notices: notices.all };
}

/** Reports each change of a place once, though it counts for many releases. */
class Notices {
  readonly all: MigrationNotice[] = [];
  readonly #known = new Map<DraftLine, Set<string>>();

  /** @param option undefined: the plugin as a whole */
  add(line: DraftLine, plugin: string, option: string | undefined, effect: string, further = ''): void {
    const subject = option === undefined ? `Plugin "${plugin}"` : `Option "${option}" in plugin "${plugin}"`;
    const known = this.#known.get(line) ?? new Set();
    this.#known.set(line, known);
    const kind = `${subject} ${effect.replace(/ in [\d.]+\.$/, '')}`;
    if (known.has(kind)) return;
    known.add(kind);
    this.all.push({ text: `${subject} ${effect}${further}`, position: line.position });
  }
}

function migrateUp(
  draft: CorefileDraft,
  release: string,
  { deprecations }: MigrationSettings,
  notices: Notices,
): void {
  const applies = (severity: Severity) => deprecations || severity !== 'deprecated';
  if (release === '1.8.0') draft.blocks.forEach(copyTransfers);
  for (const line of draft.plugins) {
    changeOptions(line, release, applies, notices);
    changePlugin(line, release, applies, notices);
    if (!line.isRemoved) {
      addOptions(line, release, notices);
      noteUnknown(line, release, notices);
    }
  }
  for (const block of draft.blocks) addPlugins(block, release, notices);
  if (!STUB_RELEASES.includes(release)) return;
  const zones = new Set(
    draft.blocks.flatMap(({ line }) => line.words.map((key) => key.replace(/:\d+,?$|,$/, ''))),
  );
  for (const block of draft.blocks) moveStubs(block, zones);
}

type Applies = (severity: Severity) => boolean;

function changeOptions(line: DraftLine, release: string, applies: Applies, notices: Notices): void {
  for (const { plugin, option, severity, in: range, concerns, apply } of OPTION_CHANGES) {
    if (plugin !== line.name || !isWithinRange(release, range)) continue;
    for (const each of line.lines().filter(({ name }) => name === option)) {
      if (concerns?.(each) === false) continue;
      notices.add(each, plugin, option, `is ${severity} in ${release}.`);
      if (applies(severity)) apply(each);
    }
  }
}

function changePlugin(line: DraftLine, release: string, applies: Applies, notices: Notices): void {
  const change = PLUGIN_CHANGES.find(
    ({ plugin, in: range }) => plugin === line.name && isWithinRange(release, range),
  );
  if (change === undefined) return;
  const { plugin, severity, replacedBy, apply } = change;
  const successor = replacedBy === undefined ? '' : ` It is replaced by "${replacedBy}".`;
  notices.add(line, plugin, undefined, `is ${severity} in ${release}.`, successor);
  if (applies(severity)) apply(line);
}

function addOptions(line: DraftLine, release: string, notices: Notices): void {
  for (const { plugin, option, value, in: range } of NEW_OPTIONS) {
    if (plugin !== line.name || range !== release || line.has(option)) continue;
    line.add({ words: [option, value] });
    notices.add(line, plugin, option, `is added as a default in ${release}.`);
  }
}

function addPlugins({ line: block }: DraftBlock, release: string, notices: Notices): void {
  for (const { plugin, beside, in: range } of NEW_PLUGINS) {
    if (range !== release || block.has(plugin) || !beside.some((name) => block.has(name))) continue;
    block.add({ words: [plugin] });
    notices.add(block, plugin, undefined, `is added as a default in ${release}.`);
  }
}

/** The plugin may have changed: neither CoreDNS's tool nor this one knows. */
function noteUnknown(line: DraftLine, release: string, notices: Notices): void {
  const effect = `is unsupported by this migration tool in ${release}.`;
  if (!knowsPlugin(line.name, release)) notices.add(line, line.name, undefined, effect);
  else
    for (const option of line.lines())
      if (!knowsOption(line.name, option.name, release)) notices.add(option, line.name, option.name, effect);
}

/** Takes out what a release has added. @param release the one that is left */
function migrateDown(draft: CorefileDraft, release: string, notices: Notices): void {
  const effect = `is not known before ${release}. It is removed.`;
  for (const line of draft.plugins) {
    if (NEW_PLUGINS.some(({ plugin, in: range }) => plugin === line.name && range === release)) {
      notices.add(line, line.name, undefined, effect);
      line.remove();
    }
    if (line.name !== 'forward' || release !== '1.6.9') continue;
    for (const option of line.lines().filter(({ name }) => name === 'max_concurrent')) {
      notices.add(option, line.name, option.name, effect);
      option.remove();
    }
  }
  if (release === '1.8.0') for (const block of draft.blocks) returnTransfers(block, notices);
}

/** The plugin `transfer` becomes the option of `kubernetes` again, for its zones. */
function returnTransfers({ line: block }: DraftBlock, notices: Notices): void {
  const plugins = block.lines();
  for (const transfer of plugins.filter(({ name }) => name === 'transfer')) {
    const servers = transfer.lines().flatMap(({ name, args }) => (name === 'to' ? args : []));
    const kubernetes = plugins.find(
      ({ name, args }) => name === 'kubernetes' && transfer.args.every((zone) => args.includes(zone)),
    );
    if (kubernetes !== undefined && servers.length > 0)
      kubernetes.add({ words: ['transfer', 'to', ...servers] });
    notices.add(transfer, 'transfer', undefined, 'is not known before 1.8.0. It is removed.');
    transfer.remove();
  }
}
