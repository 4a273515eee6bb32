/**
 * `portolan corefile survey`: prints what the Corefiles of folders use.
 */
import { describeSurvey, surveyCorefiles } from '@portolan/frontends/coredns/settings/survey.ts';
import { readOutput, type SurveyFlags } from '@portolan/frontends/coredns/settings/survey-flags.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { ExitError } from '../grammar/exit.ts';
import { loadPluginsOrExit } from '../servers/load-outside-plugins.ts';
import { addressesByInterface } from '../servers/machine-interfaces.ts';
import { type FoundSources, findSources } from './surveyed-files.ts';

/** @throws ExitError with 1 if a Corefile does not start or cannot be read, with 2 for wrong flags */
export async function surveyFolders(folders: readonly string[], flags: SurveyFlags): Promise<void> {
  const output = readOutput(flags);
  if (output === undefined) {
    process.stderr.write(
      `portolan corefile survey: --output: unknown: ${flags.output}. Give text or json.\n`,
    );
    throw new ExitError(2);
  }
  await loadPluginsOrExit(flags);
  const { sources, faults } = find(folders);
  for (const fault of faults) process.stderr.write(`portolan corefile survey: cannot read ${fault}\n`);
  const settings = { environment: process.env, interfaces: addressesByInterface() };
  const survey = surveyCorefiles(sources, settings);
  process.stdout.write(output === 'json' ? `${JSON.stringify(survey, null, 2)}\n` : describeSurvey(survey));
  if (faults.length > 0 || survey.corefiles.some(({ starts }) => !starts)) throw new ExitError(1);
}

function find(folders: readonly string[]): FoundSources {
  try {
    return findSources(folders);
  } catch (error) {
    process.stderr.write(
      `portolan corefile survey: cannot read the folders: ${describeSystemError(error)}: ${folders.join(', ')}\n`,
    );
    throw new ExitError(1);
  }
}
