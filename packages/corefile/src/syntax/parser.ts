/**
 * Parses the words of a Corefile to server blocks with their keys and directives.
 *
 * The parser knows the names of directives but not their syntax. After a problem it continues as well as it can, to find all problems
 * at once.
 */
import type { Environment } from '@portolan/kernel/base/environment.ts';
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import type { CorefileFiles } from './corefile-files.ts';
import { expandVariables } from './environment.ts';
import type { CorefileFindings } from './findings.ts';
import { Importer } from './importer.ts';
import { readTokens } from './lexer.ts';
import { flagOfPackage } from './packaged-plugins.ts';
import type { BlockNode, DirectiveNode } from './syntax-tree.ts';
import { describePosition, type Position, sharesLine, startsNewLine, type Token } from './token.ts';
import { TokenStream } from './token-stream.ts';

export interface ParserSettings {
  /** The known directive names; all others are reported. */
  readonly directives: readonly string[];
  readonly environment: Environment;
  readonly files: CorefileFiles;
}

/** @param file the path of the Corefile, for messages */
export function parseBlocks(
  text: string,
  file: string,
  settings: ParserSettings,
  findings: CorefileFindings,
): readonly BlockNode[] {
  return new Parser(readTokens(text, file), settings, findings).parse();
}

interface OpenDirective {
  readonly name: string;
  readonly tokens: Token[];
  readonly heads: Set<Token>;
  readonly position: Position;
}

class Parser {
  readonly #stream: TokenStream;
  readonly #settings: ParserSettings;
  readonly #findings: CorefileFindings;
  readonly #importer: Importer;
  readonly #blocks: BlockNode[] = [];
  /** The file ended too early; report this only once. */
  #hasEndedEarly = false;

  constructor(tokens: readonly Token[], settings: ParserSettings, findings: CorefileFindings) {
    this.#stream = new TokenStream(tokens);
    this.#settings = settings;
    this.#findings = findings;
    this.#importer = new Importer(settings.files, findings);
  }

  parse(): readonly BlockNode[] {
    while (this.#stream.peek() !== undefined) this.#parseBlock();
    return this.#blocks;
  }

  #parseBlock(): void {
    const keys = this.#readKeys();
    const [first] = keys;
    const snippet = keys.length === 1 ? /^\((.*)\)$/s.exec(first?.text ?? '')?.[1] : undefined;
    if (first !== undefined && snippet !== undefined && this.#stream.peek() !== undefined) {
      this.#defineSnippet(first, snippet);
      return;
    }
    const start = this.#stream.peek();
    const directives = this.#readDirectives();
    if (first === undefined) {
      if (start !== undefined)
        this.#findings.warn(
          start.position,
          'This server block has no zone, so it is left out. Write the zones it serves before its brace, for all names a dot.',
        );
    } else if (first.text === '}' && keys.length === 1 && !this.#hasKnown(directives))
      this.#findings.warn(first.position, 'This closing brace closes nothing. Take it out.');
    else this.#blocks.push({ keys, directives });
  }

  #readKeys(): Token[] {
    const keys: Token[] = [];
    let isAnotherExpected = false;
    for (let token = this.#stream.peek(); token !== undefined; token = this.#stream.peek()) {
      const text = this.#expand(token);
      if (text === 'import' && this.#stream.isNewLine()) {
        this.#import();
        continue;
      }
      if (text === '{') {
        if (isAnotherExpected)
          this.#findings.refuse(
            token.position,
            "Expected another address but had '{' - check for extra comma",
            'Take the comma before the brace out.',
          );
        return keys;
      }
      this.#noteComment(token);
      isAnotherExpected = text === '' ? isAnotherExpected : text.endsWith(',');
      if (text !== '') keys.push({ ...token, text: isAnotherExpected ? text.slice(0, -1) : text });
      this.#stream.take();
      if (!isAnotherExpected && this.#stream.isNewLine()) return keys;
    }
    if (isAnotherExpected) this.#refuseEnd('A comma promises another zone. Write it, or take the comma out.');
    return keys;
  }

  #defineSnippet(head: Token, name: string): void {
    if (this.#importer.hasSnippet(name))
      this.#findings.refuse(
        this.#stream.peek()?.position ?? head.position,
        `redeclaration of previously declared snippet ${name}`,
        'Give one of the two another name.',
      );
    const tokens = this.#readSnippet();
    const importsItself = tokens.some((token, index) => {
      const before = tokens[index - 1];
      const argument = tokens[index + 1];
      const isImport = token.text === 'import' && (before === undefined || startsNewLine(before, token));
      return isImport && argument !== undefined && this.#expand(argument) === name;
    });
    if (importsItself) this.#refuseSelfImport(head, name);
    if (!this.#importer.hasSnippet(name)) this.#importer.define(name, importsItself ? [] : tokens);
  }

  #refuseSelfImport(head: Token, name: string): void {
    this.#findings.refuse(
      this.#stream.previous?.position ?? head.position,
      'maximum snippet import depth (10000) exceeded',
      `The snippet (${name}) imports itself. Take that import out.`,
    );
  }

  #readSnippet(): readonly Token[] {
    const open = this.#stream.peek();
    if (open?.text !== '{') {
      const { position, text } = open ?? { position: NOWHERE, text: '' };
      this.#findings.refuseSyntax(position, text, '{', 'Put the words of a snippet into braces.');
      this.#readDirectives();
      return [];
    }
    this.#stream.take();
    const tokens: Token[] = [];
    let depth = 1;
    for (let token = this.#stream.take(); token !== undefined; token = this.#stream.take()) {
      if (token.text === '{') depth += 1;
      if (token.text === '}') depth -= 1;
      if (depth === 0) return tokens;
      tokens.push(token);
    }
    this.#refuseMissingBrace(open);
    return tokens;
  }

  #readDirectives(): ReadonlyMap<string, DirectiveNode> {
    const open = this.#stream.peek();
    const hasBraces = open?.text === '{';
    if (hasBraces) this.#stream.take();
    const directives = new Map<string, OpenDirective>();
    let wasBlockTaken = false;
    for (let token = this.#stream.peek(); token !== undefined; token = this.#stream.peek()) {
      if (token.text === '}') {
        this.#stream.take();
        return directives;
      }
      if (token.text === 'import') this.#import();
      else wasBlockTaken = this.#readDirective(directives, open) || wasBlockTaken;
    }
    if (!hasBraces || open === undefined || wasBlockTaken) return directives;
    // As in CoreDNS, a plugin's brace at the end of the file also closes the server block.
    if (this.#stream.previous?.text === '}')
      this.#findings.warn(open.position, 'This server block is not closed. Add a closing brace at its end.');
    else this.#refuseMissingBrace(open);
    return directives;
  }

  /** @returns whether the words could start a server block while the previous one is still open */
  #readDirective(directives: Map<string, OpenDirective>, open: Token | undefined): boolean {
    const head = this.#stream.take();
    if (head === undefined) return false;
    const name = this.#expand(head);
    this.#noteComment(head);
    const words = [head, ...this.#readArguments()];
    const former = directives.get(name);
    const directive = former ?? { name, tokens: [], heads: new Set(), position: head.position };
    for (const word of words) directive.tokens.push(word);
    directive.heads.add(head);
    directives.set(name, directive);
    if (this.#isKnown(name)) return false;
    const isBlock = words.some((word) => word.text === '{') && /[.:]/.test(name);
    const remedy = this.#remedyFor(name, isBlock, open, head);
    this.#findings.refuseName(head.position, name, remedy);
    return isBlock;
  }

  #isKnown(name: string): boolean {
    return this.#settings.directives.includes(name);
  }

  #hasKnown(directives: ReadonlyMap<string, DirectiveNode>): boolean {
    return [...directives.keys()].some((name) => this.#isKnown(name));
  }

  #remedyFor(name: string, isBlock: boolean, open: Token | undefined, head: Token): string {
    if (isBlock && head.position.imported?.kind === 'file')
      return 'This looks like a server block inside another one. Import its file outside of all server blocks.';
    if (isBlock && open !== undefined)
      return `If this is a server block, close the one that begins at ${describePosition(open.position)} before it.`;
    const successor = SUCCESSORS.get(name);
    if (successor !== undefined) return successor;
    const flag = flagOfPackage(name);
    if (flag !== undefined) return `It comes with Portolan as a package: add ${flag}.`;
    const foreign = remedyForForeign(name);
    if (foreign !== undefined) return foreign;
    const nearest = findNearest(name.toLowerCase(), this.#settings.directives);
    return nearest === undefined
      ? 'There is no plugin of this name. Take the directive out, or load its plugin with -plugin.'
      : `Did you mean ${nearest}?`;
  }

  /** Reads the rest of the line, and of the block that opens in it. */
  #readArguments(): Token[] {
    const words: Token[] = [];
    let depth = 0;
    for (let token = this.#stream.peek(); token !== undefined; token = this.#stream.peek()) {
      const isNewLine = this.#stream.isNewLine();
      if (token.text === '{') {
        if (isNewLine && depth === 0) this.#warnOfBrace(token);
        depth += 1;
      } else if (isNewLine && depth === 0) return words;
      else if (token.text === '}') {
        if (depth === 0) return this.#endAtBrace(words, token);
        depth -= 1;
      } else if (token.text === 'import' && isNewLine) {
        this.#import();
        continue;
      }
      this.#stream.take();
      this.#noteComment(token);
      words.push({ ...token, text: this.#expand(token) });
    }
    if (depth > 0) this.#refuseEnd('A block is not closed. Add the closing brace.');
    return words;
  }

  #warnOfBrace({ position }: Token): void {
    this.#findings.warn(
      position,
      'A brace on a line of its own opens no block for the plugin above: the words inside are taken as further uses of it. Put the brace behind the plugin, in the same line.',
    );
  }

  /** A directive extends to the end of its line, so it also takes the brace meant for its server block. */
  #endAtBrace(words: Token[], { position }: Token): Token[] {
    const remedy = 'Put the closing brace on a line of its own: a directive reaches to the end of its line.';
    this.#findings.refuse(position, "Unexpected '}' because no matching opening brace", remedy);
    return words;
  }

  /** Replaces an import with the words that it names. */
  #import(): void {
    const before = this.#stream.previous;
    const word = this.#stream.take();
    const argument = this.#nextInLine(word);
    if (word === undefined) return;
    let further = argument;
    for (let next = this.#nextInLine(further); next !== undefined; next = this.#nextInLine(further))
      further = next;
    this.#stream.forgetBackTo(before);
    const text = argument === undefined ? '' : this.#expand(argument);
    if (argument === undefined)
      this.#findings.refuse(
        word.position,
        "Wrong argument count or unexpected line ending after 'import'",
        'Name a snippet, a file, or files by a pattern.',
      );
    else if (text === '')
      this.#findings.refuse(
        argument.position,
        'Import requires a non-empty filepath',
        'Name a snippet, a file, or files by a pattern.',
      );
    else if (further !== argument)
      this.#findings.refuse(
        argument.position,
        'Import takes only one argument (glob pattern or file)',
        'Write one import for each file; snippets have no arguments.',
      );
    else this.#stream.insert(this.#importer.import(argument, text));
  }

  #nextInLine(token: Token | undefined): Token | undefined {
    const next = this.#stream.peek();
    return token !== undefined && next !== undefined && sharesLine(token, next)
      ? this.#stream.take()
      : undefined;
  }

  #expand(token: Token): string {
    const { text, unset } = expandVariables(token.text, this.#settings.environment);
    for (const name of unset)
      this.#findings.warn(
        token.position,
        token.text.includes(`{{$${name}}}`)
          ? `"{{$${name}}}" is taken as an environment variable. Write {{ $${name} }} to mean a variable of the template.`
          : `The environment variable ${name} is not set, so nothing stands in its place.`,
      );
    return text;
  }

  #noteComment({ isCutByComment, position, text }: Token): void {
    if (isCutByComment)
      this.#findings.warn(
        position,
        `A "#" ends the word "${text}", and the next blank ends that comment. Put a blank before the "#", or quotation marks around the word.`,
      );
  }

  #refuseEnd(remedy: string): void {
    this.#findings.refuse(this.#stream.previous?.position ?? NOWHERE, 'Unexpected EOF', remedy);
    this.#hasEndedEarly = true;
  }

  #refuseMissingBrace(open: Token): void {
    if (this.#hasEndedEarly) return;
    const { position, text } = this.#stream.previous ?? open;
    const remedy = `Close the block that begins at ${describePosition(open.position)}.`;
    this.#findings.refuseSyntax(position, text, '}', remedy);
  }
}

const NOWHERE: Position = { file: 'Corefile', line: 1, imported: undefined };

/** The successors of directives that CoreDNS has removed. */
const SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ['proxy', 'CoreDNS 1.5.0 removed it. Use forward.'],
  ['federation', 'CoreDNS 1.7.0 removed it, and nothing takes its place. Take it out.'],
  ['portolan', 'CoreDNS does not have it. Take it out, or do not restore own-directives.'],
  ['reverse', 'CoreDNS 1.5.0 removed it. Use template with the type PTR.'],
]);

/**
 * Plugins that others compile into CoreDNS, and what to use in their place.
 */
const UNBOUND = 'Run Unbound beside it, and ask it by forward, as in forward . 127.0.0.1:5335.';
const DATABASE =
  'Write its records to zone files, in a sidecar for one, and serve them by auto, which follows their changes.';
const BLOCK_LIST = 'Use ads, which comes with Portolan as a package: add --plugin=ads=@portolan/ads.';
const RATE_LIMIT = 'Use rrl, which comes with Portolan as a package: add --plugin=rrl=@portolan/rrl.';

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ...['unbound', 'recursor'].map((name) => [name, UNBOUND] as const),
  ...['git', 'mysql', 'netbox', 'pdsql', 'redis', 'rqlite', 'sqlite'].map(
    (name) => [name, DATABASE] as const,
  ),
  ...['adblock', 'blocklist', 'filter'].map((name) => [name, BLOCK_LIST] as const),
  ['ratelimit', RATE_LIMIT],
  ['dump', 'Use log, which has a line for each query.'],
]);

/** What to use in place of a plugin; undefined if no replacement is known. */
function remedyForForeign(plugin: string): string | undefined {
  return REMEDIES.get(plugin);
}
