/**
 * The Dockerfile as stages with their statements.
 */
import { readFileSync } from 'node:fs';

interface Statement {
  readonly instruction: string;
  readonly words: string;
}

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly statements: readonly Statement[];
}

/** Statements with their continued lines joined; comments left out. */
export const statements: readonly Statement[] = readFileSync('Dockerfile', 'utf8')
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [, instruction = '', words = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    return { instruction, words: words.replaceAll(/\s+/g, ' ') };
  });

/** In their order. */
export const stages: ReadonlyMap<string, Stage> = readStages();

function readStages(): ReadonlyMap<string, Stage> {
  const read: { name: string; from: string; statements: Statement[] }[] = [];
  for (const statement of statements) {
    if (statement.instruction !== 'FROM') read.at(-1)?.statements.push(statement);
    else {
      const [, from = '', name = ''] = /^(?:--platform=\S+ )?(\S+) AS (\S+)$/.exec(statement.words) ?? [];
      read.push({ name, from, statements: [] });
    }
  }
  return new Map(read.map((stage) => [stage.name, stage]));
}

/** The statements of a stage after those that it builds on. */
export function allOf(name: string): readonly Statement[] {
  const stage = stages.get(name);
  return stage === undefined ? [] : [...allOf(stage.from), ...stage.statements];
}

/** What the last statement of its kind says, which is the one that counts. */
export function last(target: string, instruction: string): string | undefined {
  return allOf(target).findLast((statement) => statement.instruction === instruction)?.words;
}

/** The paths that a build is sent: those that .dockerignore does not ignore. */
export function sentPaths(): readonly string[] {
  return readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
}
