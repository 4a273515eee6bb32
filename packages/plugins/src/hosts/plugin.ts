/**
 * `hosts`: names and addresses from a hosts file and from lines of the Corefile.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type DirectiveContext,
  type Draft,
  fallthroughZones,
  zonesOrBlock,
} from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { isAddress, parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { ANSWER_TABLE } from '@portolan/kernel/contract/services.ts';
import { Cache } from '../cache/cache.ts';
import { Hosts } from './hosts.ts';
import type { HostsOptions } from './options.ts';
import { computeReaderTtl } from './read-ttl.ts';

const DEFAULT_PATH = '/etc/hosts';
const DEFAULT_TTL = 3600;
const DEFAULT_RELOAD = 5000;
const MAX_TTL = 65_535;
const PROPERTIES = ['fallthrough', 'fallthrough_unsupported', 'no_reverse', 'ttl', 'reload'];

type HostsDraft = Draft<HostsOptions> & { inline: string[] };

/** Source: plugin/hosts of CoreDNS 1.14.7. */
export const hosts = definePlugin({
  name: 'hosts',
  answers: true,
  joinsBlocks: true,
  syntax: [
    'hosts [FILE [ZONES…]] {',
    '    ADDRESS NAME…',
    '    ttl SECONDS',
    '    no_reverse',
    '    reload DURATION',
    '    fallthrough [ZONES…]',
    '    fallthrough_unsupported',
    '}',
  ],
  read(cursor, context): HostsOptions {
    const draft: HostsDraft = {
      path: DEFAULT_PATH,
      zones: context.zones,
      inline: [],
      ttl: DEFAULT_TTL,
      hasReverse: true,
      reload: DEFAULT_RELOAD,
      fallthrough: [],
      fallsThroughUnsupported: false,
    };
    cursor.onlyUse(() => {
      const [path, ...zones] = cursor.remainingArguments();
      if (path !== undefined) draft.path = findFile(path, cursor, context);
      draft.zones = zonesOrBlock(zones, context);
      while (cursor.nextInBlock()) cursor.guardLine(() => readLine(cursor, draft));
      if (draft.fallsThroughUnsupported && draft.fallthrough.length === 0)
        throw cursor.error('fallthrough_unsupported requires fallthrough', 'Add fallthrough to the block.');
    });
    return draft;
  },
  create: (options, context) =>
    new Hosts(options, {
      ...context,
      table: context.use(ANSWER_TABLE),
      readTtl: computeReaderTtl(options, context.find(Cache)?.rules),
    }),
});

function findFile(path: string, cursor: DirectiveCursor, context: DirectiveContext): string {
  const resolved = context.resolve(path);
  const kind = context.files.findKind(resolved);
  if (kind === undefined) cursor.warn('It is read as soon as it does.', `File does not exist: ${resolved}`);
  if (kind === 'folder') cursor.warn('Name a file.', `Hosts file ${JSON.stringify(resolved)} is a directory`);
  return resolved;
}

function readLine(cursor: DirectiveCursor, draft: HostsDraft): void {
  switch (cursor.word) {
    case 'fallthrough':
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
      return;
    case 'fallthrough_unsupported':
      cursor.remainingBetween(0, 0);
      draft.fallsThroughUnsupported = true;
      return;
    case 'no_reverse':
      draft.hasReverse = false;
      cursor.remainingArguments();
      return;
    case 'ttl':
      draft.ttl = readTtl(cursor);
      return;
    case 'reload':
      draft.reload = readReload(cursor);
      return;
    default:
      readHostsLine(cursor, draft);
  }
}

function readHostsLine(cursor: DirectiveCursor, draft: HostsDraft): void {
  const address = cursor.word;
  const names = cursor.remainingArguments();
  if (draft.fallthrough.length > 0) {
    if (!isAddress(address)) throw cursor.unknownProperty(address, PROPERTIES);
    // CoreDNS names the address, which is the first word of the line.
    throw cursor.error(`unknown property '${address}'`, 'Put all lines with addresses before fallthrough.');
  }
  if (!isAddress(address))
    cursor.warn(
      `The line that begins with ${JSON.stringify(address)} is neither a property nor an address with names, and has no effect.`,
    );
  else if (names.length === 0) cursor.warn(`The address ${address} has no name, so its line has no effect.`);
  draft.inline.push([address, ...names].join(' '));
}

function readTtl(cursor: DirectiveCursor): number {
  const [text] = cursor.remainingArguments();
  const remedy = `Give seconds from 1 to ${MAX_TTL}.`;
  if (text === undefined) throw cursor.error('ttl needs a time in second', remedy);
  const ttl = parseInteger(text);
  if (ttl.kind === 'bad') throw cursor.error('ttl needs a number of second', remedy);
  if (ttl.value <= 0 || ttl.value > MAX_TTL) throw cursor.error('ttl provided is invalid', remedy);
  return ttl.value;
}

function readReload(cursor: DirectiveCursor): number {
  const words = cursor.remainingArguments();
  const [text = ''] = words;
  const remedy = 'Give a duration such as 15s, or 0s to read the file once.';
  if (words.length !== 1) throw cursor.error('reload needs a duration (zero seconds to disable)', remedy);
  const duration = parseGoDuration(text);
  if (duration.kind === 'bad') throw cursor.error(`invalid duration for reload '${text}'`, remedy);
  if (duration.value < 0) throw cursor.error(`invalid negative duration for reload '${text}'`, remedy);
  return duration.value;
}
