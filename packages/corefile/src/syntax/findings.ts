/**
 * The problems of a Corefile, and warnings about effects that its author may not expect.
 */
import { describePosition, type Position } from './token.ts';

/**
 * The phases in which CoreDNS reads a Corefile: tokens, blocks and imports; names of directives; contents of keys and directives.
 * In CoreDNS, `reload` only warns of a fault in the first phase; a later fault counts as a failed reload.
 */
export type CorefilePhase = 'tokens' | 'directives' | 'set-up';

export interface CorefileProblem {
  readonly phase: CorefilePhase;
  /** CoreDNS's message, word for word, because users search for it. */
  readonly message: string;
  readonly position: Position;
  /** How to fix it: a whole sentence. */
  readonly remedy: string;
  /** Whether CoreDNS may start with what this problem is about. Default: no. */
  readonly isOwn?: boolean;
}

export interface CorefileWarning {
  /** CoreDNS's own log line, word for word; undefined if CoreDNS logs nothing. */
  readonly message: string | undefined;
  /** The effect and the remedy: whole sentences. */
  readonly text: string;
  readonly position: Position;
}

export class CorefileFindings {
  readonly problems: CorefileProblem[] = [];
  readonly warnings: CorefileWarning[] = [];

  /** Records a fault of the first phase with CoreDNS's message. */
  refuse(position: Position, fault: string, remedy: string): void {
    this.problems.push({ phase: 'tokens', message: parseError(position, fault), position, remedy });
  }

  refuseName(position: Position, name: string, remedy: string): void {
    const message = parseError(position, `Unknown directive '${name}'`);
    this.problems.push({ phase: 'directives', message, position, remedy });
  }

  refuseSyntax(position: Position, found: string, expected: string, remedy: string): void {
    const message = syntaxError(position, found, expected);
    this.problems.push({ phase: 'tokens', message, position, remedy });
  }

  warn(position: Position, text: string, message?: string): void {
    const place = describePosition(position);
    const isKnown = this.warnings.some(
      (known) => known.text === text && describePosition(known.position) === place,
    );
    if (!isKnown) this.warnings.push({ message, text, position });
  }
}

export function parseError(position: Position, fault: string): string {
  return `${describePosition(position)} - Error during parsing: ${fault}`;
}

export function syntaxError(position: Position, found: string, expected: string): string {
  return `${describePosition(position)} - Syntax error: Unexpected token '${found}', expecting '${expected}'`;
}

/** Whether CoreDNS would accept what this problem is about, and this program has not got it. */
export function isUnbuilt({ message }: Pick<CorefileProblem, 'message'>): boolean {
  return message.includes('not built into Portolan');
}

/** Findings in the order of the lines of the Corefile; what is imported is at the line that imports it. */
export function sortByLine<Finding extends { readonly position: Position }>(
  findings: readonly Finding[],
): readonly Finding[] {
  return findings.toSorted((one, other) => findOuterLine(one.position) - findOuterLine(other.position));
}

function findOuterLine({ line, imported }: Position): number {
  return imported === undefined ? line : findOuterLine(imported.at);
}

/** Formats two lines: CoreDNS's message, then position and remedy. */
export function describeCorefileProblem({ message, position, remedy }: CorefileProblem): string {
  return `${message}\n  ${describePosition(position)}: ${remedy}${importTrail(position)}`;
}

export function describeCorefileWarning({ message, text, position }: CorefileWarning): string {
  const words = message === undefined ? text : `${message}. ${text}`;
  return `${describePosition(position)}: ${words}${importTrail(position)}`;
}

/** A long chain of imports is abbreviated in the middle. */
const MAX_TRAIL = 3;

function importTrail(position: Position): string {
  const trail: string[] = [];
  for (let step = position.imported; step !== undefined; step = step.at.imported)
    trail.push(describePosition(step.at));
  if (trail.length === 0) return '';
  const shown =
    trail.length <= MAX_TRAIL ? trail : [...trail.slice(0, MAX_TRAIL - 1), '…', trail.at(-1) ?? ''];
  return ` (imported at ${shown.join(', ')})`;
}
