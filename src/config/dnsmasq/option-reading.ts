/**
 * Options applied one after the other, from the command line and from files, in dnsmasq's order.
 *
 * The first `--conf-file` is read last, every further one where it stands. What may be given once may be given again in
 * a file, which then counts. A file is read once, however often it is named.
 */
import { type Argument, readArguments } from './arguments.ts';
import { type FileLine, readConfigFile } from './config-file.ts';
import { type Draft, newDraft } from './draft.ts';
import { EXIT } from './exit-codes.ts';
import { Findings } from './findings.ts';
import { chooseConfigFiles, readFolderChoice } from './folder-choice.ts';
import { textOfOctets } from './octets.ts';
import type { Option } from './option.ts';
import type { ConfigSources } from './sources.ts';

const DEFAULT_FILE = '/etc/dnsmasq.conf';

type Origin = 'command line' | 'file';

export class OptionReading {
  readonly draft: Draft = newDraft();
  readonly findings = new Findings();
  readonly #sources: ConfigSources;
  readonly #filesRead = new Set<string>();
  readonly #used: Record<Origin, Set<Option>> = { 'command line': new Set(), file: new Set() };
  #firstFile: string | undefined;

  constructor(sources: ConfigSources) {
    this.#sources = sources;
  }

  readCommandLine(words: readonly string[]): void {
    for (const argument of readArguments(words)) this.#readArgument(argument);
    if (this.#firstFile === undefined) this.#readFile(DEFAULT_FILE, 'the default', true);
    else this.#readFile(this.#firstFile, '--conf-file', false);
  }

  #readArgument(argument: Argument): void {
    if (argument.kind === 'wrong') {
      this.findings.refuse(argument.written, argument.fault, undefined, argument.remedy);
      return;
    }
    const { option, value } = argument;
    const where = `--${option.name}`;
    const isFirstFile = option.name === 'conf-file' && this.#firstFile === undefined && (value ?? '') !== '';
    if (isFirstFile) this.#firstFile = textOfOctets(value ?? '');
    else if (option.name === 'test') this.draft.test = true;
    else this.#use(option, value, where, 'command line');
  }

  #use(option: Option, value: string | undefined, where: string, origin: Origin): void {
    const { standing } = option;
    if (standing.kind === 'refused') {
      this.findings.refuse(
        where,
        `refused, since it is ${standing.what}`,
        undefined,
        'Portolan does not do that: leave it out.',
      );
      return;
    }
    if (standing.kind === 'reading') {
      this.#steer(option, value ?? '', where);
      return;
    }
    if (option.repeats === 'once' && !this.#mayUse(option, where, origin)) return;
    const use = {
      value,
      draft: this.draft,
      refuse: (fault: string, remedy: string, part = value === undefined ? undefined : textOfOctets(value)) =>
        this.findings.refuse(where, fault, part, remedy),
      note: (text: string) => this.findings.note(where, text),
    };
    if (standing.kind === 'works') standing.apply(use);
    else {
      standing.check(use);
      this.findings.note(where, `It has no effect: ${standing.why}.`);
    }
  }

  /** Keeps the rule of options that are given once. */
  #mayUse(option: Option, where: string, origin: Origin): boolean {
    if (this.#used[origin].has(option)) {
      this.findings.refuse(
        where,
        `given twice ${origin === 'file' ? 'in files' : 'on the command line'}`,
        undefined,
        'Keep one.',
      );
      return false;
    }
    this.#used[origin].add(option);
    if (origin === 'file' || !this.#used.file.has(option)) return true;
    this.findings.note(where, 'It has no effect: a file has set it, and files win over the command line.');
    return false;
  }

  #steer(option: Option, value: string, where: string): void {
    if (option.name === 'conf-dir') this.#readFolder(value, where);
    else if (option.name !== 'conf-file') this.findings.note(where, 'It has no effect in a file.');
    else if (value !== '') this.#readFile(textOfOctets(value), where, false);
  }

  #readFile(path: string, where: string, mayBeMissing: boolean): void {
    if (path === '-') {
      if (!this.#filesRead.has(path)) this.#readLines(this.#sources.readStandardInput(), 'standard input');
      this.#filesRead.add(path);
      return;
    }
    const read = this.#sources.readFile(path);
    if (read.kind === 'failed') {
      if (read.missing && mayBeMissing) return;
      const remedy = 'Name a file that can be read.';
      this.findings.refuse(where, `cannot read a file, ${read.reason}`, path, remedy, EXIT.BAD_FILE);
    } else if (!this.#filesRead.has(read.identity)) {
      this.#filesRead.add(read.identity);
      this.#readLines(read.bytes, path);
    }
  }

  #readLines(bytes: Uint8Array, file: string): void {
    for (const line of readConfigFile(bytes)) this.#readLine(line, file);
  }

  #readLine(line: FileLine, file: string): void {
    const where = `${file}:${line.line}`;
    if (line.kind === 'wrong') this.findings.refuse(where, line.fault, line.written, line.remedy);
    else this.#use(line.option, line.value, `${where}: ${line.option.name}`, 'file');
  }

  #readFolder(value: string, where: string): void {
    const choice = readFolderChoice(value);
    if (choice.path === '') return;
    const read = this.#sources.listFolder(choice.path);
    if (read.kind === 'failed') {
      const remedy = 'Name a folder that can be read.';
      this.findings.refuse(where, `cannot read a folder, ${read.reason}`, choice.path, remedy, EXIT.BAD_FILE);
      return;
    }
    for (const entry of chooseConfigFiles(choice, read.entries)) {
      const path = `${choice.path}/${entry.name}`;
      if (entry.kind === 'file') this.#readFile(path, where, false);
      else if (entry.kind === 'lost')
        this.findings.refuse(
          where,
          'cannot look at a file',
          path,
          'Remove it, or what it links to must be there.',
          EXIT.BAD_FILE,
        );
    }
  }
}
