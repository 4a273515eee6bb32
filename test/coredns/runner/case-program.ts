/**
 * The built program as cases run it: started for one of them, and handed on to others, whose Corefiles it loads as operators make it do.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Program } from '@portolan/testing/program.ts';
import { type CasePorts, findCasePorts } from './case-ports.ts';

const ENTRY = fileURLToPath(new URL('../../../dist/portolan.js', import.meta.url));
/** Milliseconds for a reload. */
const MAX_RELOAD = 60_000;
const POLL = 10;
/** As many as cases run side by side. */
const MAX_IDLE = 7;

export interface ProgramStart {
  /** Flags besides the Corefile and its port. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export class CaseProgram {
  /** Of the Corefile and its files: where the program runs. */
  readonly folder: string;
  readonly #base = mkdtempSync(join(tmpdir(), 'coredns-case-'));
  #program: Program | undefined;
  /** Where the output of its case begins. */
  #begin = 0;
  #ports: CasePorts = new Map();

  constructor() {
    this.folder = join(this.#base, 'd');
    mkdirSync(this.folder);
  }

  /** Of the case that it runs. */
  get ports(): CasePorts {
    return this.#ports;
  }

  get isRunning(): boolean {
    return this.#program !== undefined && this.#program.ended === undefined;
  }

  /** The exit code, or the signal; undefined: it runs. */
  get ended(): number | string | null | undefined {
    const ended = this.#program?.ended;
    return ended && (ended.code ?? ended.signal);
  }

  /** What it has printed since it began with its case. */
  get output(): string {
    return this.#program?.said.slice(this.#begin) ?? '';
  }

  /** Draws the ports of a case. That of the program stays. */
  async findPorts(): Promise<void> {
    this.#ports = await findCasePorts(this.#ports.get('PORT'));
  }

  start({ flags, env, stdin }: ProgramStart): void {
    const { folder, ports } = this;
    const given = ['-conf', join(folder, 'Corefile'), '-dns.port', String(ports.get('PORT'))];
    const { PATH = '', HOME = '/nonexistent' } = process.env;
    this.#program = new Program([process.execPath, ENTRY, 'coredns', ...given, ...flags], {
      folder,
      environment: { PATH, HOME, ...env },
      input: stdin,
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#program?.signal(name);
  }

  /** Makes it load the Corefile of another case. @returns whether it did */
  async reload(): Promise<boolean> {
    this.#begin = this.#program?.said.length ?? 0;
    this.signal('SIGUSR1');
    const end = performance.now() + MAX_RELOAD;
    while (this.isRunning && performance.now() < end) {
      const [line, result] = /^\[\w+\] (Reloading complete|Restart failed).*\n/m.exec(this.output) ?? [];
      if (line !== undefined) return result === 'Reloading complete';
      await sleep(POLL);
    }
    return false;
  }

  async end(): Promise<void> {
    await this.#program?.end();
    rmSync(this.#base, { recursive: true, force: true });
  }
}

/** Programs that wait for their next case, by their flags. */
export class ProgramPool {
  #idle: { readonly flags: string; readonly program: CaseProgram }[] = [];

  /** @returns undefined if none of such flags waits */
  take(flags: readonly string[]): CaseProgram | undefined {
    const found = this.#idle.find((each) => each.flags === flags.join(' '));
    this.#idle = this.#idle.filter((each) => each !== found);
    return found?.program;
  }

  async giveBack(flags: readonly string[], program: CaseProgram): Promise<void> {
    this.#idle.push({ flags: flags.join(' '), program });
    if (this.#idle.length > MAX_IDLE) await this.#idle.shift()?.program.end();
  }

  async end(): Promise<void> {
    await Promise.all(this.#idle.map(({ program }) => program.end()));
    this.#idle = [];
  }
}
