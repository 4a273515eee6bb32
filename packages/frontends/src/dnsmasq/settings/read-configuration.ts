/**
 * Reads a dnsmasq command line and all files that it includes to a plan, or to a list of all their problems.
 */
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { type Argument, readArguments } from './arguments.ts';
import { type FileLine, readConfigFile } from './config-file.ts';
import { chooseConfigFiles, readFolderChoice } from './config-folder.ts';
import { findConflicts, findStartConflicts } from './conflicts.ts';
import type { DnsmasqPlan } from './dnsmasq-plan.ts';
import { type DnsmasqDraft, newDraft } from './draft.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type DnsmasqProblem, Findings, type Note } from './findings.ts';
import { readName } from './names.ts';
import { octetsOfArgument, textOfOctets } from './octets.ts';
import type { Option } from './option.ts';
import { finishPlan, resolveDomain } from './plan-from-draft.ts';
import type { ConfigSources } from './sources.ts';

export type DnsmasqReading =
  | { readonly kind: 'help' | 'version' }
  | {
      readonly kind: 'bad';
      readonly problems: readonly DnsmasqProblem[];
      readonly notes: readonly Note[];
      /** The exit code of dnsmasq: that of the first problem. */
      readonly exitCode: ExitCode;
    }
  | {
      readonly kind: 'good';
      readonly plan: DnsmasqPlan;
      readonly notes: readonly Note[];
      /** `--test`: print `SYNTAX_OK` and exit instead of starting. */
      readonly test: boolean;
    };

/** @param words the arguments after the program's name */
export function readDnsmasqOptions(words: readonly string[], sources: ConfigSources): DnsmasqReading {
  const asked = askedFor(words);
  if (asked !== undefined) return { kind: asked };
  const reading = new ConfigurationReader(sources);
  reading.readCommandLine(words);
  const { draft, findings } = reading;
  findConflicts(draft, findings);
  const domain = resolveDomain(draft, sources, findings);
  const late = new Findings();
  findStartConflicts(draft, late);
  if (draft.test)
    for (const { where, fault } of late.problems) findings.note(where, `It will not start: ${fault}.`);
  else findings.problems.push(...late.problems);
  if (draft.resolv.ignored && !draft.resolv.default)
    findings.note('--resolv-file', 'It has no effect beside --no-resolv.');
  const plan = finishPlan(draft, hostKey(sources.hostName()), domain, findings);
  const { problems, notes } = findings;
  return problems.length === 0
    ? { kind: 'good', plan, notes, test: draft.test }
    : { kind: 'bad', problems, notes, exitCode: problems[0]?.exitCode ?? EXIT.BAD_CONFIGURATION };
}

/** The first `--help` or `--version`, which override all other options. */
function askedFor(words: readonly string[]): 'help' | 'version' | undefined {
  for (const argument of readArguments(words)) {
    if (argument.kind === 'wrong') continue;
    const { name } = argument.option;
    if (name === 'help' || name === 'version') return name;
  }
  return undefined;
}

function hostKey(name: string): NameKey {
  const reading = readName(octetsOfArgument(name));
  return reading.kind === 'name' ? reading.name : ROOT;
}

const DEFAULT_FILE = '/etc/dnsmasq.conf';

type OptionOrigin = 'command line' | 'file';
/** Describes the position of an option for messages; called only if there is one. */
type DescribePlace = () => string;

/**
 * Applies options in dnsmasq's order, from the command line and from files.
 *
 * The first `--conf-file` is read last, every further one at its position. An option that is allowed once on the command line may
 * appear again in a file, which then wins. Each file is read once, even if it is named several times.
 */
class ConfigurationReader {
  readonly draft: DnsmasqDraft = newDraft();
  readonly findings = new Findings();
  readonly #sources: ConfigSources;
  readonly #filesRead = new Set<string>();
  readonly #used: Record<OptionOrigin, Set<Option>> = { 'command line': new Set(), file: new Set() };
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
    else this.#use(option, value, () => where, 'command line');
  }

  #use(option: Option, value: string | undefined, where: DescribePlace, origin: OptionOrigin): void {
    const { standing } = option;
    if (standing.kind === 'refused') {
      this.findings.refuse(
        where(),
        `refused, since it is ${standing.what}`,
        undefined,
        'Portolan does not do that: leave it out.',
      );
      return;
    }
    if (standing.kind === 'ignored') {
      this.findings.note(where(), `It has no effect: ${standing.why}.`);
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
        this.findings.refuse(where(), fault, part, remedy),
      note: (text: string) => this.findings.note(where(), text),
    };
    if (standing.kind === 'works') standing.apply(use);
    else {
      standing.check(use);
      this.findings.note(where(), `It has no effect: ${standing.why}.`);
    }
  }

  /** Checks the rule for options that may be given only once. */
  #mayUse(option: Option, where: DescribePlace, origin: OptionOrigin): boolean {
    if (this.#used[origin].has(option)) {
      this.findings.refuse(
        where(),
        `given twice ${origin === 'file' ? 'in files' : 'on the command line'}`,
        undefined,
        'Keep one.',
      );
      return false;
    }
    this.#used[origin].add(option);
    if (origin === 'file' || !this.#used.file.has(option)) return true;
    this.findings.note(where(), 'It has no effect: a file has set it, and files win over the command line.');
    return false;
  }

  #steer(option: Option, value: string, where: DescribePlace): void {
    if (option.name === 'conf-dir') this.#readFolder(value, where());
    else if (option.name !== 'conf-file') this.findings.note(where(), 'It has no effect in a file.');
    else if (value !== '') this.#readFile(textOfOctets(value), where(), false);
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
    if (line.kind === 'wrong')
      this.findings.refuse(`${file}:${line.line}`, line.fault, line.written, line.remedy);
    else this.#use(line.option, line.value, () => `${file}:${line.line}: ${line.option.name}`, 'file');
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
