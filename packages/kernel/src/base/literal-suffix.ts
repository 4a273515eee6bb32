/**
 * The text that every name matching a pattern must end with.
 *
 * Callers use it to skip patterns, so it may be too short but never too long: unknown syntax counts as any text. Names
 * are absolute, so they end with a dot, and are in lower case.
 */

/**
 * @param source A pattern that compiles.
 * @returns the suffix, with its final dot; undefined if the pattern does not fix how names end
 */
export function findLiteralSuffix(source: string): string | undefined {
  const node = new SyntaxReader(source).read();
  if (!isAnchoredAtEnd(node)) return undefined;
  const { suffix } = computeEnding(node);
  return suffix === '' ? undefined : suffix;
}

type Node =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'unknown' }
  /** Matches an empty text: `^`, `\b`. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'end' }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number };

interface Ending {
  readonly suffix: string;
  /** Whether the suffix is the whole match. */
  readonly isWhole: boolean;
}

const NOTHING: Ending = { suffix: '', isWhole: true };
const ANYTHING: Ending = { suffix: '', isWhole: false };
/** Longer repetitions are not expanded. */
const MAX_REPEATED = 64;

function computeEnding(node: Node): Ending {
  switch (node.kind) {
    case 'literal':
      return { suffix: node.character, isWhole: true };
    case 'unknown':
      return ANYTHING;
    case 'empty':
    case 'end':
      return NOTHING;
    case 'sequence':
      return endingOfSequence(node.nodes);
    case 'choice':
      return node.nodes.map(computeEnding).reduce(commonEnding);
    case 'repeat':
      return endingOfRepeat(computeEnding(node.node), node.min, node.max);
  }
}

function endingOfSequence(nodes: readonly Node[]): Ending {
  let ending = NOTHING;
  for (let at = nodes.length - 1; at >= 0 && ending.isWhole; at -= 1) {
    const node = nodes[at];
    if (node === undefined) continue;
    // An optional final dot is always present, since all names have one.
    const isFinalDot = ending.suffix === '' && nodes[at + 1]?.kind === 'end' && isOptionalDot(node);
    const before = isFinalDot ? { suffix: '.', isWhole: true } : computeEnding(node);
    ending = { suffix: before.suffix + ending.suffix, isWhole: before.isWhole };
  }
  return ending;
}

function isOptionalDot(node: Node): boolean {
  return (
    node.kind === 'repeat' && node.min === 0 && node.node.kind === 'literal' && node.node.character === '.'
  );
}

function commonEnding(a: Ending, b: Ending): Ending {
  let length = 0;
  const shorter = Math.min(a.suffix.length, b.suffix.length);
  while (length < shorter && a.suffix.at(-1 - length) === b.suffix.at(-1 - length)) length += 1;
  const suffix = length === 0 ? '' : a.suffix.slice(-length);
  return { suffix, isWhole: a.isWhole && b.isWhole && a.suffix === b.suffix };
}

function endingOfRepeat(inner: Ending, min: number, max: number): Ending {
  if (min === 0) return max === 0 ? NOTHING : ANYTHING;
  if (!inner.isWhole || min > MAX_REPEATED) return { suffix: inner.suffix, isWhole: false };
  return { suffix: inner.suffix.repeat(min), isWhole: min === max };
}

/** Whether every match extends to the end of the text. */
function isAnchoredAtEnd(node: Node): boolean {
  if (node.kind === 'end') return true;
  if (node.kind === 'choice') return node.nodes.every(isAnchoredAtEnd);
  if (node.kind === 'repeat') return node.min > 0 && isAnchoredAtEnd(node.node);
  if (node.kind !== 'sequence') return false;
  const last = node.nodes.findLast((part) => part.kind !== 'empty');
  return last !== undefined && isAnchoredAtEnd(last);
}

const UNKNOWN: Node = { kind: 'unknown' };
const EMPTY: Node = { kind: 'empty' };

/** Reads Go's syntax, but only literals, groups, choices, repetitions and anchors. */
class SyntaxReader {
  readonly #source: string;
  #at = 0;
  /** Set by `(?i)`. `(?U)` does not change whether names match. */
  #ignoresCase = false;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Node {
    return this.#choice();
  }

  #choice(): Node {
    const nodes = [this.#sequence()];
    while (this.#takeIf('|')) nodes.push(this.#sequence());
    const [only] = nodes;
    return nodes.length === 1 && only !== undefined ? only : { kind: 'choice', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? ''))
      if (this.#source.startsWith('\\Q', this.#at)) nodes.push(...this.#quoted());
      else nodes.push(this.#repeated(this.#atom()));
    return { kind: 'sequence', nodes };
  }

  /** `\Q…\E`. A repetition after it applies only to its last character, which is read as unknown. */
  #quoted(): readonly Node[] {
    const end = this.#source.indexOf('\\E', this.#at);
    const text = this.#source.slice(this.#at + 2, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#source.length : end + 2;
    const isRepeated = /^[*+?{]/.test(this.#source.slice(this.#at));
    const nodes = [...text].map((character) => this.#literal(character));
    return isRepeated ? [this.#repeated(UNKNOWN)] : nodes;
  }

  #atom(): Node {
    const character = this.#source[this.#at] ?? '';
    this.#at += 1;
    if (character === '(') return this.#group();
    if (character === '[') return this.#class();
    if (character === '\\') return this.#escape();
    if (character === '.') return UNKNOWN;
    if (character === '^') return EMPTY;
    if (character === '$') return { kind: 'end' };
    return this.#literal(character);
  }

  #literal(character: string): Node {
    // A letter beyond ASCII may fold to others, but names have none.
    if (character > '\u007e') return UNKNOWN;
    return { kind: 'literal', character: this.#ignoresCase ? character.toLowerCase() : character };
  }

  #group(): Node {
    const before = this.#ignoresCase;
    const [opening = '', flags, end] =
      /^\?(?:P?<[^>]*>|([a-zA-Z-]*)([:)]))/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += opening.length;
    if (flags !== undefined) this.#setFlags(flags);
    // Flags without their own group apply up to the end of the enclosing group.
    if (end === ')') return EMPTY;
    const node = this.#choice();
    this.#takeIf(')');
    this.#ignoresCase = before;
    return node;
  }

  #setFlags(flags: string): void {
    const [set = '', cleared = ''] = flags.split('-');
    if (set.includes('i')) this.#ignoresCase = true;
    if (cleared.includes('i')) this.#ignoresCase = false;
  }

  /** A class of one character, as in `[.]`, is that character. */
  #class(): Node {
    const single = /^(?:\\([^A-Za-z0-9])|([^\\^\]]))\]/.exec(this.#source.slice(this.#at));
    if (single !== null) {
      this.#at += single[0].length;
      return this.#literal(single[1] ?? single[2] ?? '');
    }
    // A first bracket is a member of the class.
    if (this.#source[this.#at] === '^') this.#at += 1;
    if (this.#source[this.#at] === ']') this.#at += 1;
    while (this.#at < this.#source.length && this.#source[this.#at] !== ']') {
      const member = /^(?:\\.|\[:\^?\w+:\]|.)/s.exec(this.#source.slice(this.#at))?.[0] ?? '.';
      this.#at += member.length;
    }
    this.#at += 1;
    return UNKNOWN;
  }

  #escape(): Node {
    const sequence =
      /^(?:x\{[^}]*\}|x..|[pP]\{[^}]*\}|[pP].|[0-7]{1,3}|.)/s.exec(this.#source.slice(this.#at))?.[0] ?? '';
    this.#at += sequence.length;
    if (sequence === 'z') return { kind: 'end' };
    if (sequence === 'A' || sequence === 'b' || sequence === 'B') return EMPTY;
    return /^[A-Za-z0-9]/.test(sequence) ? UNKNOWN : this.#literal(sequence);
  }

  #repeated(node: Node): Node {
    const sign = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#source.slice(this.#at));
    if (sign === null) return node;
    this.#at += sign[0].length;
    const [, short, minText, comma, maxText] = sign;
    const min = short === undefined ? Number(minText) : short === '+' ? 1 : 0;
    const bound =
      comma === undefined
        ? min
        : maxText === '' || maxText === undefined
          ? Number.POSITIVE_INFINITY
          : Number(maxText);
    const max = short === undefined ? bound : short === '?' ? 1 : Number.POSITIVE_INFINITY;
    return { kind: 'repeat', node, min, max };
  }

  #takeIf(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
}
