/**
 * Resolves an `import`: to a snippet of that name, otherwise to a file or the files that match a pattern.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { type CorefileFiles, findMatches } from './corefile-files.ts';
import type { CorefileFindings } from './findings.ts';
import { readTokens } from './lexer.ts';
import type { ImportStep, Token } from './token.ts';

/** CoreDNS's limits. Its message gives the first one for both. */
const MAX_SNIPPET_IMPORTS = 10_000;
const MAX_FILE_IMPORTS = 100_000;

export class Importer {
  readonly #files: CorefileFiles;
  readonly #findings: CorefileFindings;
  readonly #snippets = new Map<string, readonly Token[]>();
  readonly #fileTokens = new Map<string, readonly Token[]>();
  #snippetImports = 0;
  #fileImports = 0;

  constructor(files: CorefileFiles, findings: CorefileFindings) {
    this.#files = files;
    this.#findings = findings;
  }

  hasSnippet(name: string): boolean {
    return this.#snippets.has(name);
  }

  define(name: string, tokens: readonly Token[]): void {
    this.#snippets.set(name, tokens);
  }

  /**
   * @param argument the word after `import`
   * @param text the same word with variables expanded
   * @returns the words that replace the import; empty after a problem
   */
  import(argument: Token, text: string): readonly Token[] {
    const snippet = this.#snippets.get(text);
    return snippet === undefined
      ? this.#importFiles(argument, text)
      : this.#importSnippet(argument, text, snippet);
  }

  #importSnippet(argument: Token, name: string, tokens: readonly Token[]): readonly Token[] {
    const step: ImportStep = { kind: 'snippet', name, at: argument.position };
    this.#snippetImports += 1;
    if (this.#snippetImports > MAX_SNIPPET_IMPORTS || isCycle(step)) return this.#refuseDepth(step);
    return tokens.map((token) => importToken(token, step));
  }

  #importFiles(argument: Token, text: string): readonly Token[] {
    const { position } = argument;
    const pattern = isAbsolute(text) ? text : join(dirname(resolve(position.file)), text);
    const hasSeveral = pattern.split('*').length > 2 || pattern.split('?').length > 2;
    if (hasSeveral || (pattern.includes('[') && pattern.includes(']'))) {
      this.#findings.refuse(
        position,
        `Glob pattern may only contain one wildcard (*), but has others: ${pattern}`,
        'Write one import for each folder or kind of file, each with one wildcard.',
      );
      return [];
    }
    const paths = findMatches(pattern, this.#files);
    if (paths.length === 0) this.#noteNothing(argument, text, pattern);
    return paths.flatMap((path) => this.#importFile(argument, path));
  }

  #noteNothing({ position }: Token, text: string, pattern: string): void {
    if (/[*?[\]]/.test(pattern))
      this.#findings.warn(
        position,
        'Nothing is imported here, which is no fault as long as nothing is meant to be.',
        `No files matching import glob pattern: ${text}`,
      );
    else
      this.#findings.refuse(
        position,
        `File to import not found: ${text}`,
        `There is no ${pattern}, and no snippet (${text}) is defined above this line. A path is relative to the file that holds the import.`,
      );
  }

  #importFile(argument: Token, path: string): readonly Token[] {
    const step: ImportStep = { kind: 'file', name: path, at: argument.position };
    this.#fileImports += 1;
    if (this.#fileImports > MAX_FILE_IMPORTS || isCycle(step)) return this.#refuseDepth(step);
    const tokens = this.#fileTokens.get(path) ?? this.#readFile(argument, path);
    this.#fileTokens.set(path, tokens);
    return tokens.map((token) => importToken(token, step));
  }

  #readFile({ position }: Token, path: string): readonly Token[] {
    if (this.#files.findKind(path) === 'folder') {
      const remedy =
        'Name the files by their ending, as in *.override: a mounted ConfigMap holds folders of its own beside its files.';
      this.#findings.refuse(position, `Could not import ${path}: is a directory`, remedy);
      return [];
    }
    try {
      return readTokens(this.#files.read(path), path);
    } catch (error) {
      const fault = `Could not import ${path}: open ${path}: ${describeSystemError(error)}`;
      this.#findings.refuse(position, fault, 'Let this process read the file.');
      return [];
    }
  }

  #refuseDepth(step: ImportStep): readonly Token[] {
    const kind = hasSnippetInCycle(step) ? 'snippet' : 'file';
    this.#findings.refuse(
      step.at,
      `maximum ${kind} import depth (${MAX_SNIPPET_IMPORTS}) exceeded`,
      `The import of ${step.name} leads back to itself. Take one import of the circle out.`,
    );
    return [];
  }
}

/** Imports are unconditional, so a cycle would never end. */
function isCycle(step: ImportStep): boolean {
  return findEarlier(step) !== undefined;
}

function findEarlier(step: ImportStep): ImportStep | undefined {
  let earlier = step.at.imported;
  while (earlier !== undefined && (earlier.kind !== step.kind || earlier.name !== step.name))
    earlier = earlier.at.imported;
  return earlier;
}

/** CoreDNS counts both kinds; in a mixed cycle the snippets reach their limit first. */
function hasSnippetInCycle(step: ImportStep): boolean {
  const end = findEarlier(step);
  let current: ImportStep | undefined = step;
  while (current !== undefined && current !== end) {
    if (current.kind === 'snippet') return true;
    current = current.at.imported;
  }
  return false;
}

/** A copy of the word that records the import that brought it. */
function importToken(token: Token, step: ImportStep): Token {
  return { ...token, position: { ...token.position, imported: step } };
}
