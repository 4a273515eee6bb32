/**
 * The statements of the Dockerfile that say how images are put together from layers.
 */

export interface DockerfileInstruction {
  /** In upper case, as in the file. */
  readonly instruction: string;
  readonly words: string;
}

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly statements: readonly DockerfileInstruction[];
}

export class Dockerfile {
  /** All, with continued lines joined and comments left out. */
  readonly statements: readonly DockerfileInstruction[];
  /** In their order. */
  readonly stages: ReadonlyMap<string, Stage>;

  /** @param text of the file */
  constructor(text: string) {
    this.statements = text
      .replace(/^#.*\n/gm, '')
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, instruction = '', words = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
        return { instruction, words: words.replaceAll(/\s+/g, ' ') };
      });
    this.stages = readStages(this.statements);
  }

  /** The statements of a stage, after those of the stages that it builds on. */
  listInstructions(name: string): readonly DockerfileInstruction[] {
    const stage = this.stages.get(name);
    return stage === undefined ? [] : [...this.listInstructions(stage.from), ...stage.statements];
  }

  /** The words of the last statement of its kind, which is the one that counts. */
  last(target: string, instruction: string): string | undefined {
    return this.listInstructions(target).findLast((statement) => statement.instruction === instruction)
      ?.words;
  }

  /** The layers of a target, from the lowest: what is copied, and to where. */
  listLayers(target: string): readonly CopiedLayer[] {
    return this.listInstructions(target).flatMap(({ instruction, words }) => {
      const [, from = '', source = '', to = ''] = /^--from=(\S+) (\S+) (\S+)$/.exec(words) ?? [];
      return instruction === 'COPY' ? [{ from, source, to }] : [];
    });
  }

  /** Arguments and variables with their defaults. */
  listArguments(target: string): ReadonlyMap<string, string> {
    return new Map(
      [...this.statements.slice(0, 1), ...this.listInstructions(target)].flatMap(({ instruction, words }) => {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(words) ?? [];
        return instruction === 'ARG' ? [[name, value] as const] : [];
      }),
    );
  }

  /** Labels with a value, with arguments put in. @param given replaces defaults of arguments */
  readLabels(target: string, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const values = new Map([...this.listArguments(target), ...Object.entries(given)]);
    const words = this.last(target, 'LABEL') ?? '';
    const pairs = [...words.matchAll(/(\S+)="([^"]*)"/g)].map(([, name = '', text = '']) => {
      const value = text.replaceAll(/\$(\w+)/g, (_, variable: string) => values.get(variable) ?? '');
      return [name, value] as const;
    });
    return Object.fromEntries(pairs.filter(([, value]) => value !== ''));
  }

  /** Paths of the file capability `cap_net_bind_service=+ep`. */
  get capablePaths(): readonly string[] {
    const words = this.statements.map((each) => each.words).find((each) => each.startsWith('setcap ')) ?? '';
    return [...words.matchAll(/cap_net_bind_service=\+ep (\S+)/g)].map(([, path = '']) => path);
  }

  /** The release of Node.js, as in `24.21.0`. */
  get nodeVersion(): string {
    return /^NODE=node:(\d+\.\d+\.\d+)-/.exec(this.statements[0]?.words ?? '')?.[1] ?? '';
  }
}

interface CopiedLayer {
  /** The stage. */
  readonly from: string;
  /** Of a folder the content is copied: it ends with a slash. */
  readonly source: string;
  readonly to: string;
}

function readStages(statements: readonly DockerfileInstruction[]): ReadonlyMap<string, Stage> {
  const read: { name: string; from: string; statements: DockerfileInstruction[] }[] = [];
  for (const statement of statements) {
    if (statement.instruction !== 'FROM') read.at(-1)?.statements.push(statement);
    else {
      const [, from = '', name = ''] = /^(?:--platform=\S+ )?(\S+) AS (\S+)$/.exec(statement.words) ?? [];
      read.push({ name, from, statements: [] });
    }
  }
  return new Map(read.map((stage) => [stage.name, stage]));
}
