/**
 * The zone files of a folder, and the origins that their names say.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { AutoOptions } from './options.ts';

export interface FoundZone {
  readonly origin: NameKey;
  readonly path: string;
}

export interface FoundZones {
  readonly zones: readonly FoundZone[];
  /** Texts of faults, in CoreDNS's words where it has them. */
  readonly faults: readonly string[];
}

/** Names with two dots belong to the kubelet: it puts the files of a ConfigMap into such folders, and links them. */
const OF_KUBELET = '..';

/** Looks into a folder and all folders below it, in the order of names. Of several files for an origin, the first counts. */
export function findZones(options: Pick<AutoOptions, 'directory' | 'pattern' | 'origin'>): FoundZones {
  const found = new Map<NameKey, string>();
  const faults: string[] = [];
  if (options.directory === undefined) return { zones: [], faults };
  for (const { folder, name } of walk(options.directory, faults)) {
    const path = join(folder, name);
    const origin = toOrigin(name, options);
    if (origin === undefined) continue;
    if (origin === 'bad') faults.push(`no origin of a zone: ${path}`);
    else if (found.has(origin))
      faults.push(
        `Multiple zone files match origin "${origin}": using "${found.get(origin)}" instead of "${path}"`,
      );
    else found.set(origin, path);
  }
  return { zones: [...found].map(([origin, path]) => ({ origin, path })), faults };
}

/** Links to folders are not followed below the first one, so that the walk ends. */
function* walk(
  folder: string,
  faults: string[],
): Generator<{ readonly folder: string; readonly name: string }> {
  let entries: ReturnType<typeof readFolder>;
  try {
    entries = readFolder(folder);
  } catch (error) {
    faults.push(`error reading ${folder}: ${describeError(error)}`);
    return;
  }
  for (const entry of entries) {
    const { name } = entry;
    if (name.startsWith(OF_KUBELET)) continue;
    if (entry.isDirectory()) yield* walk(join(folder, name), faults);
    else yield { folder, name };
  }
}

function readFolder(folder: string) {
  // By octets, as Go sorts.
  return readdirSync(folder, { withFileTypes: true }).sort((one, other) =>
    Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)),
  );
}

/** @returns undefined: the name does not match; `bad`: the origin is no name */
function toOrigin(
  name: string,
  { pattern, origin }: Pick<AutoOptions, 'pattern' | 'origin'>,
): NameKey | 'bad' | undefined {
  const groups = pattern.match(name);
  if (groups === undefined) return undefined;
  const findGroup = (word: string): string => groups[pattern.groupNames.get(word) ?? Number(word)] ?? '';
  return tryParseKey(origin.replace(/\{(\w+)\}/g, (_, word: string) => findGroup(word))) ?? 'bad';
}
