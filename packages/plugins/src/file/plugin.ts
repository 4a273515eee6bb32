/**
 * `file`: zones from master files.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { fallthroughZones, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import { checkZoneFile } from '@portolan/corefile/directive/zone-file-check.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import { rotateAddresses } from '@portolan/kernel/chain/handler.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, BLOCK, LOSSES, PLAN } from '@portolan/kernel/contract/services.ts';
import { Transfer } from '../transfer/transfer.ts';
import { File, type FileDependencies } from './file.ts';
import type { FileOptions, FileZone } from './options.ts';

const DEFAULT_RELOAD = 60_000;

/** Settings of one use apply to later uses too, as in CoreDNS. */
interface FileDraft {
  reload: number;
  reloadByMtime: boolean;
  fallthrough: readonly NameKey[];
}

/** Source: plugin/file of CoreDNS 1.14.7. */
export const file = definePlugin({
  name: 'file',
  answers: true,
  joinsBlocks: true,
  syntax: [
    'file DBFILE [ZONES…] {',
    '    reload DURATION',
    '    reload_by_mtime',
    '    fallthrough [ZONES…]',
    '}',
  ],
  read(cursor, context): FileOptions {
    const draft: FileDraft = { reload: DEFAULT_RELOAD, reloadByMtime: false, fallthrough: [] };
    const zones = new Map<NameKey, FileZone>();
    let openFault: string | undefined;
    cursor.eachUse(() => {
      const path = context.resolve(cursor.requiredArgument());
      const { position } = cursor;
      const origins = zonesOrBlock(cursor.remainingArguments(), context);
      for (const origin of origins) {
        const check = checkZoneFile(path, origin, position, context);
        openFault = check.openFault ?? openFault;
        for (const fault of check.faults) cursor.refuse(fault);
        for (const { text, remedy } of check.warnings) cursor.warn(remedy, text);
      }
      readProperties(cursor, draft);
      const { reload, reloadByMtime } = draft;
      for (const origin of origins) zones.set(origin, { origin, path, reload, reloadByMtime });
    });
    if (openFault !== undefined) noteMissingFile(openFault, draft.reload, cursor);
    return { zones: [...zones.values()], fallthrough: draft.fallthrough };
  },
  create(options, context, former) {
    const transfer = context.find(Transfer);
    const table = context.use(ANSWER_TABLE);
    const { handlers } = context.use(BLOCK);
    const dependencies: FileDependencies = {
      ...context,
      ...context.use(PLAN),
      losses: context.use(LOSSES),
      rotates: () => rotateAddresses(handlers()),
      chain: context.lookUp,
      onChange(origin) {
        table.planChanged();
        transfer?.notify(origin);
      },
    };
    const file = new File(options, dependencies, ofKind(File, former));
    transfer?.add(file);
    return file;
  },
});

/** A missing file may appear later, unless it is read only once. */
function noteMissingFile(openFault: string, reload: number, cursor: DirectiveCursor): void {
  // CoreDNS writes the plugin's name twice here.
  if (reload === 0)
    cursor.refuse(cursor.bareError(`plugin/file: ${openFault}`, 'Name a file that can be read.'));
  else
    cursor.warn(
      'The zone is served as soon as its file is there.',
      `Failed to open ${JSON.stringify(openFault)}: trying again in ${formatGoDuration(reload)}`,
    );
}

function readProperties(cursor: DirectiveCursor, draft: FileDraft): void {
  cursor.properties({
    fallthrough: () => {
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
    },
    reload: () => {
      draft.reload = readReload(cursor);
    },
    reload_by_mtime: () => {
      draft.reloadByMtime = true;
    },
    upstream: () => {
      cursor.remainingArguments();
      cursor.warn('"upstream" has had no effect since CoreDNS 1.5.0. Take it out.');
    },
  });
}

function readReload(cursor: DirectiveCursor): number {
  const [text] = cursor.remainingArguments();
  const remedy = 'Give a duration such as 30s, or 0 to read the file once.';
  if (text === undefined) throw cursor.bareError('reload duration value is expected', remedy);
  const duration = parseGoDuration(text);
  // CoreDNS writes the plugin's name twice here.
  if (duration.kind === 'bad') throw cursor.bareError(`plugin/file: ${duration.fault}`, remedy);
  if (duration.value < 0) throw cursor.bareError(`reload interval can not be negative: ${text}`, remedy);
  return duration.value;
}
