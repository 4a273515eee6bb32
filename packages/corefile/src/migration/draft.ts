/**
 * A Corefile with all files that it imports, while a migration changes them.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { type CorefileFiles, findMatches } from '../syntax/corefile-files.ts';
import { expandVariables } from '../syntax/environment.ts';
import { withoutMark } from '../syntax/lexer.ts';
import { readStatements, type StatementLevel } from '../written/statements.ts';
import { applyEdits } from '../written/text-edits.ts';
import { type AddedLine, DraftLine, showLine } from './draft-line.ts';

export interface DraftSettings {
  /** The path of the Corefile. */
  readonly file: string;
  readonly files: CorefileFiles;
  readonly environment: Environment;
}

/** A server block, with the file that holds it. */
export interface DraftBlock {
  readonly line: DraftLine;
  readonly file: DraftFile;
}

export class DraftFile {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly DraftLine[];
  readonly #blocks: AddedBlock[] = [];

  /** @throws BraceError */
  constructor(path: string, text: string, level: StatementLevel) {
    this.path = path;
    this.text = withoutMark(text);
    this.lines = readStatements(this.text, path, level).map((statement) => new DraftLine(this, statement));
  }

  addBlock(block: AddedBlock): void {
    this.#blocks.push(block);
  }

  /** The plugins that moved to server blocks of their own. */
  get moved(): readonly DraftLine[] {
    return this.#blocks.map(({ moved }) => moved);
  }

  get changed(): string {
    const text = applyEdits(
      this.text,
      this.lines.flatMap((line) => line.edits()),
    );
    if (this.#blocks.length === 0) return text;
    return [text.replace(/\n*$/, '\n'), ...this.#blocks.map(showBlock)].join('\n');
  }
}

/** A server block that a migration adds at the end of a file. */
interface AddedBlock {
  readonly key: string;
  readonly lines: readonly AddedLine[];
  /** A plugin from another block, behind the lines. */
  readonly moved: DraftLine;
}

function showBlock({ key, lines, moved }: AddedBlock): string {
  return `${key} {\n${lines.map((line) => showLine(line, '    ')).join('')}${moved.render()}}\n`;
}

export class CorefileDraft {
  /** The Corefile first. */
  readonly files: readonly DraftFile[];
  /** Of all files, in order. */
  readonly blocks: readonly DraftBlock[];

  /** @throws BraceError, and the error of an imported file that cannot be read */
  constructor(text: string, settings: DraftSettings) {
    const loader = new DraftLoader(settings);
    const main = loader.load(settings.file, text, 'blocks');
    this.blocks = [...loader.listBlocks(main, [])];
    this.files = [...loader.files.values()];
  }

  /** The plugins of all blocks, each line once. */
  get plugins(): readonly DraftLine[] {
    const written = this.blocks.flatMap(({ line }) => line.lines());
    return [...new Set([...written, ...this.files.flatMap(({ moved }) => moved)])];
  }
}

const SNIPPET = /^\((.*)\)$/s;

/** Loads imported files and resolves imports. */
class DraftLoader {
  readonly files = new Map<string, DraftFile>();
  readonly #settings: DraftSettings;
  readonly #snippets = new Map<string, DraftLine>();

  constructor(settings: DraftSettings) {
    this.#settings = settings;
  }

  /** A file counts once, also if several lines import it. */
  load(path: string, text: string, level: StatementLevel): DraftFile {
    const file = this.files.get(path) ?? new DraftFile(path, text, level);
    this.files.set(path, file);
    return file;
  }

  /** @param open files whose blocks are being listed: imports in a circle end */
  *listBlocks(file: DraftFile, open: readonly string[]): Iterable<DraftBlock> {
    if (open.includes(file.path)) return;
    for (const line of file.lines) {
      const snippet = line.words.length === 1 ? SNIPPET.exec(line.name)?.[1] : undefined;
      if (line.name === 'import') {
        for (const imported of this.#importFiles(line, 'blocks'))
          yield* this.listBlocks(imported, [...open, file.path]);
      } else {
        this.#resolve(line.inner, 'plugins', [file.path]);
        if (snippet === undefined) yield { line, file };
        else this.#snippets.set(snippet, line);
      }
    }
  }

  /** Finds the lines that imports stand for. */
  #resolve(lines: readonly DraftLine[], level: StatementLevel, open: readonly string[]): void {
    for (const line of lines) {
      if (line.name !== 'import') this.#resolve(line.inner, 'options', open);
      else line.imported = this.#linesOfImport(line, level, open);
    }
  }

  #linesOfImport(line: DraftLine, level: StatementLevel, open: readonly string[]): readonly DraftLine[] {
    const snippet = this.#snippets.get(this.#expandArgument(line));
    if (snippet !== undefined) return snippet.lines();
    const files = this.#importFiles(line, level).filter(({ path }) => !open.includes(path));
    for (const { path, lines } of files) this.#resolve(lines, level, [...open, path]);
    return files.flatMap(({ lines }) =>
      lines.flatMap((each) => (each.name === 'import' ? each.imported : [each])),
    );
  }

  #importFiles(line: DraftLine, level: StatementLevel): readonly DraftFile[] {
    const { files } = this.#settings;
    const name = this.#expandArgument(line);
    const pattern = isAbsolute(name) ? name : join(dirname(resolve(line.position.file)), name);
    return findMatches(pattern, files)
      .filter((path) => files.findKind(path) === 'file')
      .map((path) => this.load(path, files.read(path), level));
  }

  #expandArgument(line: DraftLine): string {
    return expandVariables(line.args[0] ?? '', this.#settings.environment).text;
  }
}
