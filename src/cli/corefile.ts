/**
 * `portolan corefile`: checks a Corefile, and makes one from the ConfigMap of kube-dns.
 */
import { CHECK_FLAGS, type CheckFlags } from '../config/corefile/check-flags.ts';
import type { RunCommand } from './command.ts';
import { addOptions } from './options.ts';
import { createParser, runParser } from './parser.ts';

export const runCorefile: RunCommand = async (words, command) => {
  const parser = createParser(command);
  const check = parser
    .command('check')
    .description('print all problems of a Corefile, and what it does that may not be expected')
    .argument('<file>', 'Corefile to check; - is standard input');
  addOptions(check, CHECK_FLAGS);
  check.action(async (file: string, flags: CheckFlags) => {
    // Loaded late: the Corefile reader and its regular expressions would keep memory in a server.
    const { checkCorefile } = await import('./check-corefile.ts');
    checkCorefile(file, flags);
  });
  parser
    .command('from-kube-dns')
    .description('print the ConfigMap of kube-dns as a Corefile, and what is lost on standard error')
    .argument(
      '<file>',
      'ConfigMap as kubectl get -o yaml prints it, or the folder it is mounted in; - is standard input',
    )
    .helpOption('-h, --help', 'print this help')
    .action(async (file: string) => {
      const { printConvertedConfig } = await import('./convert-kube-dns-config.ts');
      printConvertedConfig(file);
    });
  return await runParser(parser, words);
};
