/**
 * Reads a zone file, unless it is unchanged.
 */
import { readFileSync, statSync } from 'node:fs';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import {
  readZoneFile,
  type ZoneFileProblem,
  type ZoneFileWarning,
} from '@portolan/sources/zone-files/zone-file.ts';
import type { FileZone } from './options.ts';
import { ZoneNames } from './zone-names.ts';

/** The zone as it was read last. */
export interface KnownFile {
  /** Undefined: not read yet. */
  readonly serial: number | undefined;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export type ZoneReading =
  | {
      readonly kind: 'read';
      readonly names: ZoneNames;
      readonly modified: number;
      /** What the owner of the file should know. */
      readonly warnings: readonly ZoneFileWarning[];
    }
  | { readonly kind: 'unchanged' }
  /** The file cannot be read. */
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'faulty'; readonly reason: string };

/** CoreDNS gives this TTL to records of `$GENERATE`, whatever `$TTL` says. */
const GENERATED_TTL_OF_COREDNS = 3600;

/** @param restored with `generated-ttl`, records of `$GENERATE` have the TTL of CoreDNS */
export function readZone(
  { origin, path, reloadByMtime }: FileZone,
  known: KnownFile,
  restored = NOTHING_RESTORED,
): ZoneReading {
  let text: string;
  let modified: number;
  try {
    modified = statSync(path).mtimeMs;
    if (reloadByMtime && known.serial !== undefined && modified <= known.modified)
      return { kind: 'unchanged' };
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { kind: 'missing', reason: `open ${path}: ${describeSystemError(error)}` };
  }
  const readInclude = (include: string) => readFileSync(include, 'utf8');
  const generatedTtl = restored.has('generated-ttl') ? GENERATED_TTL_OF_COREDNS : undefined;
  const { records, problems, warnings } = readZoneFile(text, {
    file: path,
    origin,
    readInclude,
    generatedTtl,
  });
  const [problem] = problems;
  if (problem !== undefined) return { kind: 'faulty', reason: describeProblem(problem, path, origin) };
  const names = new ZoneNames(origin, records);
  const { serial } = names;
  if (serial === undefined)
    return {
      kind: 'faulty',
      reason: `file ${JSON.stringify(path)} has no SOA record for origin ${origin}`,
    };
  if (!reloadByMtime && serial === known.serial) return { kind: 'unchanged' };
  return { kind: 'read', names, modified, warnings };
}

function describeProblem({ file, line, column, fault, word }: ZoneFileProblem, path: string, origin: string) {
  const token = JSON.stringify(word ?? '');
  return `failed to parse file ${JSON.stringify(path)} for origin ${origin} with error ${file}: dns: ${fault}: ${token} at line: ${line}:${column}`;
}
