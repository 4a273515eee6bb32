/**
 * The language of scenario files, in virtual time: each line is a step, at a time since the start. A stage has what they act on.
 *
 *     # a comment; the first one is the name of the scenario
 *     options hedging off, in-flight 2     without a time: before anything happens
 *     0ms   ask one www.example. A         `do`, `cd`, `norec` and `by 10.0.0.1` may follow
 *     20ms  got one NOERROR at 20          what became of a question, as its stage says it; or `lost one ...`
 *     1.8s  waits two                      nothing yet
 *     1.8s  counts coalesced 1, hedged 0
 *
 * All other steps are those of the stage. Commas are for the reader.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { describe, expect, it } from 'vitest';

/** A question of a scenario, for the way that its stage asks. */
export interface ScenarioQuestion {
  readonly name: AbsoluteName;
  readonly type: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  readonly recursionDesired: boolean;
  readonly client: string;
}

export interface ScenarioStage {
  readonly clock: ManualClock;
  /** Milliseconds by which time goes on at once: what follows from an answer happens within them. */
  readonly tick: number;
  setOptions(values: ReadonlyMap<string, string>): void;
  /** @param note takes what became of it, as `got` and `lost` lines have it after the id */
  ask(question: ScenarioQuestion, note: (result: ScenarioResult) => void): Promise<void>;
  /** A number that it counts; undefined: there is none of that name. */
  count(name: string): number | undefined;
  /** @returns whether it knows such a step */
  step(verb: string, words: readonly string[], place: string): boolean;
  stop(): void;
}

export interface ScenarioResult {
  readonly verb: 'got' | 'lost';
  readonly words: string;
}

/** Each file of a folder as a test. */
export function describeScenarios(title: string, folder: URL, makeStage: () => ScenarioStage): void {
  const path = fileURLToPath(folder);
  const files = readdirSync(path).filter((file) => file.endsWith('.txt'));
  describe(title, () => {
    it('has scenarios', () => expect(files.length).toBeGreaterThan(10));
    for (const file of files) {
      const text = readFileSync(join(path, file), 'utf8');
      const name = /^# (.*)$/m.exec(text)?.[1] ?? file;
      it(`${file}: ${name}`, () => runScenario(text, file, makeStage()));
    }
  });
}

/** Fails at the first line that does not hold, named with its number. */
async function runScenario(text: string, file: string, stage: ScenarioStage): Promise<void> {
  const results = new Map<string, ScenarioResult | undefined>();
  for (const [index, line] of text.split('\n').entries()) {
    const words = line
      .replace(/#.*$/, '')
      .trim()
      .split(/[\s,]+/);
    if (words[0] === '') continue;
    const place = `${file}:${index + 1}: ${line}`;
    const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(words[0] ?? '') ?? [];
    if (number !== undefined) {
      words.shift();
      await advanceTo(stage, Math.round(Number(number) * (unit === 's' ? 1000 : 1)), place);
    }
    await runStep(stage, results, words, place);
  }
  stage.stop();
}

async function advanceTo({ clock, tick }: ScenarioStage, time: number, place: string): Promise<void> {
  expect(time, `time goes on: ${place}`).toBeGreaterThanOrEqual(clock.monotonic());
  while (clock.monotonic() < time) {
    clock.advance(Math.min(tick, time - clock.monotonic()));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function runStep(
  stage: ScenarioStage,
  results: Map<string, ScenarioResult | undefined>,
  [verb = '', ...words]: readonly string[],
  place: string,
): Promise<void> {
  const [id = '', ...rest] = words;
  switch (verb) {
    case 'options':
      stage.setOptions(new Map(pairWords(words)));
      return;
    case 'ask':
      results.set(id, undefined);
      await stage.ask(parseQuestion(rest), (result) => results.set(id, result));
      return;
    case 'got':
    case 'lost':
    case 'waits': {
      const { verb: became = 'waits', words: result = '' } = results.get(id) ?? {};
      const found = results.has(id) ? `${became} ${result}`.trim() : 'was never asked';
      expect(found, place).toBe([verb, ...rest].join(' '));
      return;
    }
    case 'counts':
      for (const [name, count] of pairWords(words))
        expect(stage.count(name), `${name} in ${place}`).toBe(Number(count));
      return;
    default:
      if (!stage.step(verb, words, place)) throw new Error(`not a step: ${place}`);
  }
}

function parseQuestion([name = '', type = '', ...rest]: readonly string[]): ScenarioQuestion {
  const by = rest.indexOf('by');
  return {
    name: parseName(name),
    type: parseType(type) ?? 0,
    dnssecOk: rest.includes('do'),
    checkingDisabled: rest.includes('cd'),
    recursionDesired: !rest.includes('norec'),
    client: by < 0 ? '10.0.0.1' : (rest[by + 1] ?? ''),
  };
}

/** `a 1 b 2` as `[a, 1]`, `[b, 2]`. */
export function* pairWords(words: readonly string[]): Iterable<[string, string]> {
  for (let index = 0; index + 1 < words.length; index += 2)
    yield [words[index] ?? '', words[index + 1] ?? ''];
}
