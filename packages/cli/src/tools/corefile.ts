/**
 * `portolan corefile`: checks, formats, migrates, surveys and explains Corefiles, and makes one from the ConfigMap of kube-dns.
 *
 * Each action is loaded late: the Corefile reader and its regular expressions would keep memory in a server.
 */
import { CHECK_FLAGS } from '@portolan/frontends/coredns/settings/check-flags.ts';
import { EXPLAIN_FLAGS } from '@portolan/frontends/coredns/settings/explain-flags.ts';
import { FORMAT_FLAGS, MIGRATE_FLAGS } from '@portolan/frontends/coredns/settings/migrate-flags.ts';
import { SURVEY_FLAGS } from '@portolan/frontends/coredns/settings/survey-flags.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import type { RunCommand } from '../grammar/command.ts';
import { type CommandForm, runCommandLine } from '../grammar/command-line.ts';
import { runSubcommand, type Subcommand } from '../grammar/subcommands.ts';

const SUBCOMMANDS: readonly Subcommand[] = [
  createSubcommand(
    {
      name: 'check',
      summary: 'print all problems of a Corefile, and what it does that may not be expected',
      flags: CHECK_FLAGS,
      operands: [{ form: '<file>', help: 'Corefile to check; - is standard input' }],
    },
    async (flags, [file = '']) => {
      const { checkCorefile } = await import('./check-corefile.ts');
      await checkCorefile(file, flags);
    },
  ),
  createSubcommand(
    {
      name: 'explain',
      summary: 'print the server block and the plugins that a question passes, and whether readers answer',
      flags: EXPLAIN_FLAGS,
      operands: [
        { form: '<name>', help: 'name that a client asks for' },
        { form: '[type]', help: 'type that it asks for; default: A' },
      ],
    },
    async (flags, [name = '', type = 'A']) => {
      const { explainName } = await import('./explain-question.ts');
      await explainName(name, type, flags);
    },
  ),
  createSubcommand(
    {
      name: 'fmt',
      summary: 'print Corefiles with regular indents and blanks; words and comments stay in their lines',
      flags: FORMAT_FLAGS,
      operands: [{ form: '<files...>', help: 'Corefiles to format; - is standard input' }],
    },
    async (flags, files) => {
      const { formatFiles } = await import('./migrate-corefile.ts');
      formatFiles(files, flags);
    },
  ),
  createSubcommand(
    {
      name: 'from-kube-dns',
      summary: 'print the ConfigMap of kube-dns as a Corefile, and what is lost on standard error',
      flags: [],
      operands: [
        {
          form: '<file>',
          help: 'ConfigMap as kubectl get -o yaml prints it, or the folder it is mounted in; - is standard input',
        },
      ],
    },
    async (_flags, [file = '']) => {
      const { printConvertedConfig } = await import('./convert-kube-dns-config.ts');
      printConvertedConfig(file);
    },
  ),
  createSubcommand(
    {
      name: 'migrate',
      summary: 'change a Corefile for another version of CoreDNS; the changes are listed on standard error',
      flags: MIGRATE_FLAGS,
      operands: [{ form: '<file>', help: 'Corefile to change; - is standard input' }],
    },
    async (flags, [file = '']) => {
      const { migrateFile } = await import('./migrate-corefile.ts');
      migrateFile(file, flags);
    },
  ),
  createSubcommand(
    {
      name: 'survey',
      summary: 'print which plugins Corefiles use, what would not start, and what would answer otherwise',
      flags: SURVEY_FLAGS,
      operands: [
        { form: '<folders...>', help: 'folders or files with Corefiles, or with manifests of ConfigMaps' },
      ],
    },
    async (flags, folders) => {
      const { surveyFolders } = await import('./survey-corefiles.ts');
      await surveyFolders(folders, flags);
    },
  ),
];

/** The subcommands with their flags. */
export const COREFILE_COMMANDS: readonly { readonly name: string; readonly flags: readonly Flag[] }[] =
  SUBCOMMANDS.map(({ form: { name, flags = [] } }) => ({ name, flags }));

export const runCorefile: RunCommand = async (words, command) =>
  await runSubcommand(words, command, SUBCOMMANDS);

function createSubcommand<const Table extends readonly Flag[]>(
  form: CommandForm<Table>,
  run: (flags: FlagsOf<Table>, operands: readonly string[]) => Promise<void>,
): Subcommand {
  return { form, run: (words, name) => runCommandLine(words, { ...form, name }, run) };
}
