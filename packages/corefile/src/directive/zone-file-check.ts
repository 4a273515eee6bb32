/**
 * Checks the zone files of a Corefile: CoreDNS does not start with a zone that does not parse.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { describeAsCoreDns } from '@portolan/sources/zone-files/coredns-words.ts';
import {
  readZoneFile,
  type ZoneFileProblem,
  type ZoneFileWarning,
} from '@portolan/sources/zone-files/zone-file.ts';
import type { Position } from '../syntax/token.ts';
import type { DirectiveContext } from './directive.ts';
import { DirectiveError } from './directive-cursor.ts';

interface ZoneFileCheck {
  readonly faults: readonly DirectiveError[];
  readonly openFault: string | undefined;
  /** What its owner should know of a zone that is served. */
  readonly warnings: readonly ZoneFileWarning[];
}

/**
 * @param position where the Corefile names the file
 * @returns the faults of the zone, or why the file cannot be opened
 */
export function checkZoneFile(
  path: string,
  origin: NameKey,
  position: Position,
  { files }: DirectiveContext,
): ZoneFileCheck {
  let text: string;
  try {
    if (files.findKind(path) === undefined) return { faults: [], warnings: [], openFault: missingFile(path) };
    text = files.read(path);
  } catch (error) {
    return { faults: [], warnings: [], openFault: `open ${path}: ${describeSystemError(error)}` };
  }
  const reading = readZoneFile(text, { file: path, origin, readInclude: (include) => files.read(include) });
  const faults = reading.problems.map((problem) => describeFault(problem, path, origin, position));
  const hasSoa = reading.records.some(({ data }) => data.kind === 'SOA');
  if (!hasSoa && faults.length === 0)
    faults.push(
      new DirectiveError(
        `file ${JSON.stringify(path)} has no SOA record for origin ${origin}`,
        position,
        `Add one to the file, as in: @ IN SOA ns hostmaster 1 7200 1800 86400 60.`,
      ),
    );
  return { faults, openFault: undefined, warnings: reading.warnings };
}

function missingFile(path: string): string {
  return `open ${path}: no such file or directory`;
}

function describeFault(
  problem: ZoneFileProblem,
  path: string,
  origin: NameKey,
  at: Position,
): DirectiveError {
  const { file, line, fault, word } = problem;
  const message = `failed to parse file ${JSON.stringify(path)} for origin ${origin} with error ${file}: ${describeAsCoreDns(problem)}`;
  const position = { file, line, imported: { kind: 'file', name: file, at } } as const;
  const shown = word === undefined ? '' : `: ${JSON.stringify(word)}`;
  const remedy = `${fault[0]?.toUpperCase() ?? ''}${fault.slice(1)}${shown}.`;
  return new DirectiveError(message, position, remedy, TAKEN_BY_COREDNS.test(fault));
}

/** CoreDNS serves such records, which clients cannot read, or fails when it is asked for them. */
const TAKEN_BY_COREDNS =
  /^(?:an incomplete escape|not a domain name|the data ends too early|a parameter that was there|not pairs of|not a list of|no form for|no data of)/;
