/**
 * One case: its files, its scripted servers, the program, and the steps in order.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askQuestion } from './ask-step.ts';
import type { CaseCluster } from './case-cluster.ts';
import { CaseProgram, type ProgramPool } from './case-program.ts';
import { type CasePlaces, clean, cleanValue, fill, makeCertificate } from './case-text.ts';
import { askHttp, readFamilies } from './http-steps.ts';
import type {
  CaseResult,
  LogStep,
  RecordedCase,
  StartResult,
  Step,
  StepResult,
  StepWithResult,
} from './recorded-case.ts';
import { ScriptedUpstream } from './scripted-upstream.ts';

const FIRST_ID = 1000;
/** Milliseconds for recorded lines to come. */
const MAX_WAIT = 5_000;
const NO_KUBECONFIG = '/nonexistent/kubeconfig';

export interface CaseSurroundings {
  /** Undefined: there is no API server. */
  readonly cluster: CaseCluster | undefined;
  /** What was recorded: lines of the log come after the answers, and are waited for. */
  readonly expected?: CaseResult;
  /** Programs that ran other cases. Undefined: the case has one of its own. */
  readonly programs?: ProgramPool;
}

export async function runCase(spec: RecordedCase, surroundings: CaseSurroundings): Promise<CaseResult> {
  const running = new RunningCase(spec, surroundings);
  try {
    return await running.run();
  } finally {
    await running.end();
  }
}

class RunningCase {
  readonly #spec: RecordedCase;
  readonly #surroundings: CaseSurroundings;
  readonly #program: CaseProgram;
  readonly #clientPorts = new Set<number>();
  readonly #closers: (() => void)[] = [];
  readonly #upstreams: ScriptedUpstream[] = [];
  readonly #applied: string[] = [];

  constructor(spec: RecordedCase, surroundings: CaseSurroundings) {
    this.#spec = spec;
    this.#surroundings = surroundings;
    this.#program = surroundings.programs?.take(spec.flags ?? []) ?? new CaseProgram();
  }

  get #places(): CasePlaces {
    const { folder, ports } = this.#program;
    const kubeconfig = this.#surroundings.cluster?.kubeconfig ?? NO_KUBECONFIG;
    return { folder, ports, kubeconfig, clientPorts: this.#clientPorts };
  }

  async run(): Promise<CaseResult> {
    const { name, steps = [] } = this.#spec;
    await this.#program.findPorts();
    const start = await this.#start();
    if (!('ok' in start)) return { name, start };
    const results: StepWithResult[] = [];
    const began = performance.now();
    let rested = 0;
    for (const [number, step] of steps.entries()) {
      const result = await this.#carryOut(step, number);
      rested += step.sleep ?? 0;
      results.push({ ...step, result, late: (performance.now() - began) / 1000 - rested });
    }
    return { name, start, steps: results };
  }

  async end(): Promise<void> {
    const { cluster, programs } = this.#surroundings;
    for (const close of this.#closers) close();
    if (programs !== undefined && this.#program.isRunning)
      await programs.giveBack(this.#spec.flags ?? [], this.#program);
    else await this.#program.end();
    await Promise.all(this.#upstreams.map((upstream) => upstream.down()));
    for (const objects of this.#applied) await cluster?.remove(objects);
  }

  async #start(): Promise<StartResult> {
    const { files = {}, octets = {}, links = {}, corefile, upstreams = [], certs = false } = this.#spec;
    const { folder } = this.#program;
    for (const entry of readdirSync(folder)) rmSync(join(folder, entry), { recursive: true });
    for (const [file, text] of Object.entries(files)) this.#write(file, text);
    for (const [file, base64] of Object.entries(octets))
      writeFileSync(join(folder, file), Buffer.from(base64, 'base64'));
    for (const [file, to] of Object.entries(links)) this.#link(file, to);
    const certificate = certs ? makeCertificate(folder) : undefined;
    for (const [index, script] of upstreams.entries()) {
      const port = this.#places.ports.get(`UP${index + 1}`) ?? 0;
      const upstream = new ScriptedUpstream(port, script, certificate);
      this.#upstreams.push(upstream);
      if (script.down !== true) await upstream.up();
    }
    if (corefile !== undefined) this.#write('Corefile', corefile);
    if (this.#program.isRunning) return await this.#reload();
    const { flags = [], env = {}, stdin = '' } = this.#spec;
    this.#program.start({
      flags: flags.map((flag) => this.#fill(flag)),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, this.#fill(value)])),
      stdin: this.#fill(stdin),
    });
    return await this.#untilStarted();
  }

  async #reload(): Promise<StartResult> {
    return (await this.#program.reload()) ? { ok: true } : { exit: 'not loaded', output: this.#tail() };
  }

  async #untilStarted(): Promise<StartResult> {
    const { start_wait: limit = 60, starts = true, settle = 1 } = this.#spec;
    const end = performance.now() + Math.max(limit, 60) * 1000;
    // Only one that prints nothing has to be tried.
    const isQuiet = this.#spec.flags?.includes('-quiet') === true;
    while (this.#program.ended === undefined) {
      if (performance.now() > end) return { exit: 'still starting', output: this.#tail() };
      if (/^\w+\/\w+, \S+/m.test(this.#program.output)) break;
      if (isQuiet && (await this.#connects())) break;
      await sleep(10);
    }
    const until = performance.now() + settle * 1000;
    while (!starts && this.#program.ended === undefined && performance.now() < until) await sleep(20);
    await sleep(isQuiet ? 500 : 50);
    return this.#program.ended === undefined
      ? { ok: true }
      : { exit: this.#program.ended, output: this.#tail() };
  }

  #connects(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#places.ports.get('PORT') ?? 0, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  }

  #lines(): readonly string[] {
    return this.#program.output.split('\n').filter((line) => line.trim() !== '');
  }

  #tail(): string {
    const lines = this.#lines().map((line) => clean(line, this.#places));
    const banner = lines.findLastIndex((line) => /^\w+\/\*$/.test(line));
    const behind = banner < 0 ? [] : lines.slice(banner + 1);
    return (behind.length > 0 ? behind : lines).join('\n');
  }

  async #carryOut(step: Step, number: number): Promise<StepResult> {
    try {
      return cleanValue(await this.#perform(step, number), this.#places);
    } catch (error) {
      return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
  }

  async #perform(step: Step, number: number): Promise<StepResult> {
    if (step.ask !== undefined) return await this.#ask(step.ask, number);
    if (step.write !== undefined) return this.#write(step.write.file, step.write.text);
    if (step.remove !== undefined) {
      rmSync(join(this.#places.folder, this.#fill(step.remove)), { recursive: true });
      return {};
    }
    if (step.link !== undefined) return this.#link(step.link.file, step.link.to);
    if (step.sleep !== undefined) return await this.#rest(step.sleep);
    if (step.http !== undefined) return await askHttp(step.http, this.#port(step.http.port));
    if (step.metrics !== undefined)
      return await readFamilies(step.metrics, this.#port(step.metrics.port), this.#places);
    if (step.signal !== undefined) return await this.#signal(step.signal);
    if (step.exit !== undefined) return await this.#untilEnded(step.exit);
    if (step.upstream !== undefined) return await this.#changeUpstream(step.upstream);
    if (step.seen !== undefined) return this.#seen(step.seen);
    if (step.object !== undefined) return await this.#changeObjects(step.object);
    if (step.log !== undefined) return await this.#log(step.log, number);
    throw new Error(`unknown step: ${JSON.stringify(step)}`);
  }

  #ask(step: NonNullable<Step['ask']>, number: number): Promise<StepResult> {
    return askQuestion(step, FIRST_ID + number, {
      port: this.#port(step.port ?? '{PORT}'),
      onClientPort: (port) => this.#clientPorts.add(port),
      keep: (close) => this.#closers.push(close),
    }).then((result) => (step.ordered === true ? { ...result, ordered: true } : result));
  }

  async #rest(seconds: number): Promise<StepResult> {
    await sleep(seconds * 1000);
    return {};
  }

  async #signal(name: string): Promise<StepResult> {
    this.#program.signal(`SIG${name}` as NodeJS.Signals);
    return await this.#rest(0.3);
  }

  async #untilEnded(seconds: number): Promise<StepResult> {
    const end = performance.now() + seconds * 1000;
    while (this.#program.ended === undefined && performance.now() < end) await sleep(10);
    return { exit: this.#program.ended ?? 'running' };
  }

  async #changeUpstream(change: NonNullable<Step['upstream']>): Promise<StepResult> {
    const upstream = this.#upstreams[change.index - 1];
    upstream?.change(change);
    if (change.down === true) await upstream?.down();
    else if (change.down === false) await upstream?.up();
    return {};
  }

  #seen(step: NonNullable<Step['seen']>): StepResult {
    const { index, short, sorted, count } = typeof step === 'number' ? { index: step } : step;
    const seen = (this.#upstreams[index - 1]?.takeSeen() ?? []).map((line) =>
      line.replace(/=([0-9a-f]{4})\b/g, (whole, digits: string) => this.#portOption(whole, digits)),
    );
    if (count === true) return { count: seen.length };
    const lines = short === true ? seen.map((line) => line.split(' ').slice(0, 4).join(' ')) : seen;
    return { seen: sorted === true ? [...lines].sort() : lines };
  }

  /** A port in an EDNS option, in hexadecimal digits. */
  #portOption(whole: string, digits: string): string {
    const shown = clean(String(Number.parseInt(digits, 16)), this.#places);
    return shown.startsWith('{') ? `=${shown}` : whole;
  }

  async #changeObjects({ apply, delete: gone }: NonNullable<Step['object']>): Promise<StepResult> {
    if (apply !== undefined) {
      this.#applied.push(apply);
      await this.#surroundings.cluster?.apply(apply);
    }
    if (gone !== undefined) await this.#surroundings.cluster?.remove(gone);
    return {};
  }

  async #log(step: string | LogStep, number: number): Promise<StepResult> {
    const { match, count, last, sorted, wait = 1.5 } = typeof step === 'string' ? { match: step } : step;
    const least = this.#recordedLines(number);
    const until = performance.now() + (least === undefined ? wait * 1000 : MAX_WAIT);
    const pattern = new RegExp(match);
    let found: readonly string[] = [];
    let changed = 0;
    for (;;) {
      const before = found.length;
      found = this.#lines()
        .map((line) => clean(line, this.#places))
        .filter((line) => pattern.test(line));
      // Lines about queries come some time after their answers.
      if (found.length > before) changed = performance.now();
      const isQuiet = performance.now() > changed + 200;
      if ((found.length >= (least ?? 1) && isQuiet) || performance.now() > until) break;
      await sleep(50);
    }
    if (count === true) return { count: found.length };
    const lines = last === undefined ? found : found.slice(-last);
    return { log: sorted === true ? [...lines].sort() : lines };
  }

  /** How many lines a step has at least; undefined: none are recorded. */
  #recordedLines(number: number): number | undefined {
    const { log, count } = this.#surroundings.expected?.steps?.[number]?.result ?? {};
    return Number(Array.isArray(log) ? log.length : count) || undefined;
  }

  #port(text: string | number): number {
    return Number(this.#fill(text));
  }

  #fill(text: string | number): string {
    return fill(text, this.#places);
  }

  /** By a new name that takes the place of the old one. */
  #write(file: string, text: string): StepResult {
    const path = join(this.#places.folder, this.#fill(file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, this.#fill(text));
    renameSync(`${path}.new`, path);
    return {};
  }

  #link(file: string, to: string): StepResult {
    const path = join(this.#places.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(`${path}.new`)) rmSync(`${path}.new`);
    symlinkSync(to, `${path}.new`);
    renameSync(`${path}.new`, path);
    return {};
  }
}
