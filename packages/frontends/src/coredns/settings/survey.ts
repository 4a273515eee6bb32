/**
 * What a set of Corefiles uses: their plugins, what keeps them from starting, and what they would answer otherwise than with CoreDNS.
 */
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import {
  CorefileFindings,
  type CorefileProblem,
  describeCorefileWarning,
  isUnbuilt,
  sortByLine,
} from '@portolan/corefile/syntax/findings.ts';
import { flagOfPackage } from '@portolan/corefile/syntax/packaged-plugins.ts';
import { parseBlocks } from '@portolan/corefile/syntax/parser.ts';
import { describePosition } from '@portolan/corefile/syntax/token.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { findDefinition } from '../../plugins/registry.ts';
import { type Difference, findDifferences } from './differences.ts';
import { pluginOrder } from './plugin-order.ts';
import { readCorefile } from './read-corefile.ts';

/** A Corefile to survey. */
export interface SurveyedSource {
  /** Names it in the result. */
  readonly label: string;
  /** Its path for messages and imports. */
  readonly file: string;
  readonly text: string;
  readonly files: CorefileFiles;
}

export interface SurveySettings {
  readonly environment: Environment;
  readonly interfaces: ReadonlyMap<string, readonly string[]>;
}

export interface SurveyedProblem {
  /** CoreDNS's message. */
  readonly message: string;
  readonly place: string;
  readonly remedy: string;
  readonly refusedBy: 'portolan' | 'both';
}

export interface SurveyedCorefile {
  readonly label: string;
  /** With the number of server blocks that have each, in alphabetical order. */
  readonly plugins: Readonly<Record<string, number>>;
  readonly starts: boolean;
  readonly problems: readonly SurveyedProblem[];
  readonly warnings: readonly string[];
  /** Without duplicates; empty if it does not start. */
  readonly differences: readonly Difference[];
}

export interface SurveyedPlugin {
  readonly name: string;
  /** The number of Corefiles that have it. */
  readonly corefiles: number;
  readonly isBuilt: boolean;
  /** Loads the plugin where it comes with Portolan as a package. */
  readonly flag?: string;
}

export interface Survey {
  readonly corefiles: readonly SurveyedCorefile[];
  /** The most common first. */
  readonly plugins: readonly SurveyedPlugin[];
}

export function surveyCorefiles(sources: readonly SurveyedSource[], settings: SurveySettings): Survey {
  const corefiles = sources.map((source) => surveyCorefile(source, settings));
  const counts = new Map<string, number>();
  for (const { plugins } of corefiles)
    for (const name of Object.keys(plugins)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const plugins = [...counts]
    .map(([name, count]) => describePlugin(name, count))
    .toSorted((a, b) => b.corefiles - a.corefiles || (a.name < b.name ? -1 : 1));
  return { corefiles, plugins };
}

function describePlugin(name: string, corefiles: number): SurveyedPlugin {
  const isBuilt = findDefinition(name) !== undefined;
  const flag = flagOfPackage(name);
  return { name, corefiles, isBuilt, ...(!isBuilt && flag !== undefined && { flag }) };
}

function surveyCorefile(source: SurveyedSource, settings: SurveySettings): SurveyedCorefile {
  const { label, file, text, files } = source;
  const reading = readCorefile(text, { file, files, profile: '1.14', defaultPort: 53, ...settings });
  const blocks = reading.kind === 'good' ? reading.blocks : [];
  const differences = blocks.flatMap(({ plugins }) => findDifferences(plugins));
  return {
    label,
    plugins: countPlugins(source, settings),
    starts: reading.kind === 'good',
    problems: reading.kind === 'good' ? [] : sortByLine(reading.problems).map(describeProblem),
    warnings: sortByLine(reading.warnings).map(describeCorefileWarning),
    differences: [...new Map(differences.map((each) => [each.text, each])).values()],
  };
}

function describeProblem(problem: CorefileProblem): SurveyedProblem {
  const { message, position, remedy } = problem;
  const refusedBy = isUnbuilt(problem) || problem.isOwn === true ? 'portolan' : 'both';
  return { message, place: describePosition(position), remedy, refusedBy };
}

/** The names as written: a Corefile that does not start has plugins too. */
function countPlugins(
  { file, text, files }: SurveyedSource,
  { environment }: SurveySettings,
): Readonly<Record<string, number>> {
  const settings = { directives: pluginOrder('1.14'), environment, files };
  const counts = new Map<string, number>();
  for (const { directives } of parseBlocks(text, file, settings, new CorefileFindings()))
    for (const name of directives.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function refusal({ message, refusedBy }: Pick<SurveyedProblem, 'message' | 'refusedBy'>): string {
  if (refusedBy === 'both') return 'refused by CoreDNS too';
  return isUnbuilt({ message }) ? 'not built' : 'CoreDNS may start with it';
}

/** The survey as a text for people. */
export function describeSurvey({ corefiles, plugins }: Survey): string {
  const refused = corefiles.filter(({ starts }) => !starts);
  const own = refused.filter(({ problems }) => problems.every(({ refusedBy }) => refusedBy === 'portolan'));
  const width = Math.max(0, ...plugins.map(({ name }) => name.length));
  return [
    ...corefiles.flatMap(describeSurveyed),
    'Plugins, with the number of Corefiles that have them:',
    ...plugins.map(
      ({ name, corefiles: count, isBuilt, flag }) =>
        `  ${name.padEnd(width)}  ${count}${isBuilt ? '' : `  ${flag === undefined ? 'not built into Portolan' : `add ${flag}`}`}`,
    ),
    '',
    `${corefiles.length - refused.length} of ${corefiles.length} Corefiles start; ${own.length} would start only with CoreDNS.`,
    '',
  ].join('\n');
}

function describeSurveyed(surveyed: SurveyedCorefile): readonly string[] {
  const { label, starts, problems, warnings, differences, plugins } = surveyed;
  return [
    `${label}: ${starts ? 'starts' : 'does not start'}`,
    `  plugins: ${Object.keys(plugins).join(', ')}`,
    ...problems.map(
      ({ message, place, remedy, refusedBy }) =>
        `  ${refusal({ message, refusedBy })}: ${message}\n    ${place}: ${remedy}`,
    ),
    ...warnings.map((warning) => `  [WARNING] ${warning}`),
    ...differences.map(
      ({ plugin, text, compat }) =>
        `  ${plugin}: ${text}${compat === undefined ? '' : ` (-compat=${compat} turns this off)`}`,
    ),
    '',
  ];
}
