/**
 * `portolan corefile`: checks, formats, migrates, surveys and explains Corefiles, and makes one from the ConfigMap of kube-dns.
 *
 * Each action is loaded late: the Corefile reader and its regular expressions would keep memory in a server.
 */
import { CHECK_FLAGS, type CheckFlags } from '@portolan/frontends/coredns/settings/check-flags.ts';
import {
  type CorefileExplainFlags,
  EXPLAIN_FLAGS,
} from '@portolan/frontends/coredns/settings/explain-flags.ts';
import {
  FORMAT_FLAGS,
  type FormatFlags,
  MIGRATE_FLAGS,
  type MigrateFlags,
} from '@portolan/frontends/coredns/settings/migrate-flags.ts';
import { SURVEY_FLAGS, type SurveyFlags } from '@portolan/frontends/coredns/settings/survey-flags.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import type { Command } from 'commander';
import type { RunCommand } from '../grammar/command.ts';
import { addOptions } from '../grammar/options.ts';
import { createParser, runParser } from '../grammar/parser.ts';

/** The subcommands with their flags. */
export const COREFILE_COMMANDS: readonly { readonly name: string; readonly flags: readonly Flag[] }[] = [
  { name: 'check', flags: CHECK_FLAGS },
  { name: 'explain', flags: EXPLAIN_FLAGS },
  { name: 'fmt', flags: FORMAT_FLAGS },
  { name: 'from-kube-dns', flags: [] },
  { name: 'migrate', flags: MIGRATE_FLAGS },
  { name: 'survey', flags: SURVEY_FLAGS },
];

export const runCorefile: RunCommand = async (words, command) => {
  const parser = createParser(command);
  for (const { name, flags } of COREFILE_COMMANDS) addOptions(parser.command(name), flags);
  const named = (name: string): Command =>
    parser.commands.find((each) => each.name() === name) ?? parser.command(name);
  named('check')
    .description('print all problems of a Corefile, and what it does that may not be expected')
    .argument('<file>', 'Corefile to check; - is standard input')
    .action(async (file: string, flags: CheckFlags) => {
      const { checkCorefile } = await import('./check-corefile.ts');
      await checkCorefile(file, flags);
    });
  addChanges(named);
  named('from-kube-dns')
    .description('print the ConfigMap of kube-dns as a Corefile, and what is lost on standard error')
    .argument(
      '<file>',
      'ConfigMap as kubectl get -o yaml prints it, or the folder it is mounted in; - is standard input',
    )
    .action(async (file: string) => {
      const { printConvertedConfig } = await import('./convert-kube-dns-config.ts');
      printConvertedConfig(file);
    });
  addQuestions(named);
  return await runParser(parser, words);
};

type NamedCommand = (name: string) => Command;

function addChanges(named: NamedCommand): void {
  named('fmt')
    .description('print Corefiles with regular indents and blanks; words and comments stay in their lines')
    .argument('<files...>', 'Corefiles to format; - is standard input')
    .action(async (files: readonly string[], flags: FormatFlags) => {
      const { formatFiles } = await import('./migrate-corefile.ts');
      formatFiles(files, flags);
    });
  named('migrate')
    .description('change a Corefile for another version of CoreDNS; the changes are listed on standard error')
    .argument('<file>', 'Corefile to change; - is standard input')
    .action(async (file: string, flags: MigrateFlags) => {
      const { migrateFile } = await import('./migrate-corefile.ts');
      migrateFile(file, flags);
    });
}

function addQuestions(named: NamedCommand): void {
  named('survey')
    .description('print which plugins Corefiles use, what would not start, and what would answer otherwise')
    .argument('<folders...>', 'folders or files with Corefiles, or with manifests of ConfigMaps')
    .action(async (folders: readonly string[], flags: SurveyFlags) => {
      const { surveyFolders } = await import('./survey-corefiles.ts');
      await surveyFolders(folders, flags);
    });
  named('explain')
    .description('print the server block and the plugins that a question passes, and whether readers answer')
    .argument('<name>', 'name that a client asks for')
    .argument('[type]', 'type that it asks for', 'A')
    .action(async (name: string, type: string, flags: CorefileExplainFlags) => {
      const { explainName } = await import('./explain-question.ts');
      await explainName(name, type, flags);
    });
}
